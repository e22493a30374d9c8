// Readers of stored bytes: records, events, snapshots, SQLite's log. Damage that a checksum would
// find is not interesting here, so the checksums are made right.
#include <sys/mman.h>
#include <unistd.h>

#include "pawl/adapter/journal_sqlite/wal_check.h"
#include "pawl/kernel/codec.h"
#include "pawl/kernel/kernel.h"
#include "pawl/kernel/transcript.h"
#include "tests/fuzz/fuzz.h"

namespace pawl::fuzz {
namespace {

// Everything that is asked of a run from outside the kernel.
void look_at(const Run& run) {
  const RunState& state = run.state();
  static_cast<void>(status_of(state));
  static_cast<void>(waits_for(state));
  static_cast<void>(stop_reason_of(state));
  static_cast<void>(wants_park(state));
  static_cast<void>(wake_at(state));
  for (const Call& call : state.calls) static_cast<void>(key_of(state, call.id));
  const std::string snapshot = encode_snapshot(run);
  const auto again = decode_snapshot(snapshot);
  FUZZ_CHECK(again && *again == run);
}

}  // namespace

// A history: records that decode are applied in their order, whatever they say. The sequence number
// is made right, as a careful forger would.
void fuzz_record(std::string_view bytes) {
  Run run;
  for (const std::string_view piece : pieces_of(bytes)) {
    auto record = decode_record(piece);
    if (!record || !is_understood(*record)) continue;
    FUZZ_CHECK(encode_record(*record) == piece);
    record->seq = run->length;
    const auto sealed = decode_record(encode_record(*record));
    FUZZ_CHECK(sealed && *sealed == *record);
    const std::uint64_t epoch = run->epoch;
    if (!fold(run, *record)) return;  // It is unusable now, and nobody uses it.
    FUZZ_CHECK(run->epoch >= epoch);
    look_at(run);
  }
}

void fuzz_event(std::string_view bytes) {
  const auto event = decode_event(bytes);
  if (!event) return;
  FUZZ_CHECK(encode_event(*event) == bytes);
}

void fuzz_snapshot(std::string_view bytes) {
  auto run = decode_snapshot(bytes);
  if (!run) return;
  FUZZ_CHECK(encode_snapshot(*run) == bytes);
  look_at(*run);
}

// A host that reports any events in any order: what is accepted is a record that can be written,
// read and applied again to the same effect.
void fuzz_advance(std::string_view bytes) {
  Run run;
  Run replayed;
  Stamp stamp{1, 0, 0};
  for (const std::string_view piece : pieces_of(bytes)) {
    auto event = decode_event(piece);
    if (!event) continue;
    stamp.elapsed_ms += piece.size();
    const std::string before = encode_snapshot(run);
    const auto record = advance(run, *std::move(event), stamp);
    if (!record) {
      FUZZ_CHECK(encode_snapshot(run) == before);
      continue;
    }
    const auto read = decode_record(encode_record(*record));
    FUZZ_CHECK(read && *read == *record);
    FUZZ_CHECK(fold(replayed, *read));
    FUZZ_CHECK(replayed == run);
  }
  if (run->length > 0) look_at(run);
}

namespace {

constexpr std::uint32_t kPageBytes = 512;
constexpr std::size_t kLogHeader = 32;
constexpr std::size_t kFrameHeader = 24;

void put_big_endian(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (24 - 8 * i));
}

struct LogSum {
  std::uint32_t a = 0;
  std::uint32_t b = 0;

  void add(std::string_view bytes) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      a += word(bytes, i) + b;
      b += word(bytes, i + 4) + a;
    }
  }
  static std::uint32_t word(std::string_view bytes, std::size_t at) {  // little-endian
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
    }
    return value;
  }
};

// A log whose sums are right, apart from frames that the first byte's bits name.
std::string sealed_log(std::string_view bytes) {
  const auto broken = static_cast<std::uint8_t>(bytes.front());
  std::string log(bytes.substr(1));
  if (log.size() < kLogHeader) return log;
  put_big_endian(log, 0, 0x377f0682);
  put_big_endian(log, 4, 3007000);
  put_big_endian(log, 8, kPageBytes);
  LogSum sum;
  sum.add(std::string_view(log).substr(0, 24));
  put_big_endian(log, 24, sum.a);
  put_big_endian(log, 28, sum.b);
  for (std::size_t at = kLogHeader, n = 0; at + kFrameHeader + kPageBytes <= log.size();
       at += kFrameHeader + kPageBytes, ++n) {
    log.replace(at + 8, 8, log.substr(16, 8));
    sum.add(std::string_view(log).substr(at, 8));
    sum.add(std::string_view(log).substr(at + kFrameHeader, kPageBytes));
    const std::uint32_t wrong = n < 8 ? broken >> n & 1U : 0;
    put_big_endian(log, at + 16, sum.a + wrong);
    put_big_endian(log, at + 20, sum.b);
  }
  return log;
}

void check_log_bytes(const std::string& log) {
  const int file = ::memfd_create("log", 0);
  FUZZ_CHECK(file >= 0);
  FUZZ_CHECK(::write(file, log.data(), log.size()) == static_cast<ssize_t>(log.size()));
  const auto report = sqlite::check_log("/proc/self/fd/" + std::to_string(file), {kPageBytes});
  ::close(file);
  if (!report) return;
  const std::size_t frame = kFrameHeader + kPageBytes;
  const std::size_t frames = log.size() < kLogHeader ? 0 : (log.size() - kLogHeader) / frame;
  FUZZ_CHECK(report->frames_committed <= frames);
  FUZZ_CHECK(report->torn_bytes <= log.size());
}

}  // namespace

void fuzz_log(std::string_view bytes) {
  check_log_bytes(std::string(bytes));
  if (!bytes.empty()) check_log_bytes(sealed_log(bytes));
}

}  // namespace pawl::fuzz
