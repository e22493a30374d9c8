#include "pawl/adapter/journal_sqlite/mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>

#include "pawl/adapter/journal_sqlite/places.h"
#include "pawl/adapter/journal_sqlite/run_row.h"
#include "pawl/adapter/journal_sqlite/store_row.h"
#include "pawl/base/describe_errno.h"

namespace pawl::sqlite {
namespace {

constexpr std::string_view kMarkMagic{"PawlMrk1", 8};
constexpr mode_t kMarkMode = 0600;
constexpr std::size_t kNumbers = 6;  // between the magic and the sum
constexpr const char* kLastMessage = "SELECT seq FROM sqlite_sequence WHERE name = 'inbox'";
constexpr const char* kChainOfRow = "SELECT chain FROM journal WHERE id = ?";

// FNV-1a: every single flipped bit changes it, and it costs nothing.
std::uint64_t sum_of_mark(std::string_view bytes) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;
  for (const char byte : bytes) sum = (sum ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3ULL;
  return sum;
}

void put(std::string& bytes, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift);
}

std::uint64_t number_in(std::string_view bytes, std::size_t index) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i > 0; --i) {
    number = number << 8U | static_cast<std::uint8_t>(bytes[index * 8 + i - 1]);
  }
  return number;
}

Error mark_failed(const std::string& name, const std::string& what) {
  return Error{ErrorCode::unavailable, name + " cannot be " + what + ": " + describe_errno(errno)};
}

Result<std::uint64_t> chain_of_row(Connection& connection, std::int64_t row) {
  Query query(connection, kChainOfRow);
  PAWL_TRY(const bool found, query.number(row).next());
  return found ? chain_prefix(query.blob_at(0)) : std::uint64_t{0};
}

// Locks of one open file end with it, and this one is held for a moment only.
class MarkLock {
 public:
  explicit MarkLock(int file) : file_(file) { held_ = set(F_WRLCK); }
  ~MarkLock() {
    if (held_) set(F_UNLCK);
  }
  MarkLock(const MarkLock&) = delete;
  MarkLock& operator=(const MarkLock&) = delete;
  bool held() const { return held_; }

 private:
  bool set(short type) const {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    while (::fcntl(file_, F_OFD_SETLKW, &lock) != 0) {
      if (errno != EINTR) return false;
    }
    return true;
  }
  int file_;
  bool held_ = false;
};

Shortfall behind(const Newest& mark, const Newest& store) {
  Shortfall shortfall;
  shortfall.messages =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, mark.message - store.message));
  const bool same = mark.generation == store.generation;
  if (same && mark.row > store.row) {
    shortfall.records = static_cast<std::uint64_t>(mark.row - store.row);
  }
  if (shortfall.records == 0 && shortfall.messages == 0 && mark.logs <= store.logs &&
      mark.generation <= store.generation) {
    return shortfall;
  }
  shortfall.why = "the store is behind its mark: " + std::to_string(shortfall.records) +
                  " records and " + std::to_string(shortfall.messages) +
                  " messages that were acknowledged are not in it";
  return shortfall;
}

}  // namespace

std::uint64_t chain_prefix(std::string_view chain) {
  return chain.size() < 8 ? 0 : number_in(chain, 0);
}

Newest newer_of(const Newest& a, const Newest& b) {
  const bool first = std::tie(a.generation, a.row) >= std::tie(b.generation, b.row);
  Newest newest = first ? a : b;
  newest.message = std::max(a.message, b.message);
  newest.logs = std::max(a.logs, b.logs);
  return newest;
}

std::string encode_mark(const Mark& mark) {
  std::string bytes(kMarkMagic);
  const Newest& newest = mark.newest;
  const std::array<std::uint64_t, kNumbers> numbers = {
      static_cast<std::uint64_t>(mark.store),     static_cast<std::uint64_t>(newest.generation),
      static_cast<std::uint64_t>(newest.row),     newest.chain,
      static_cast<std::uint64_t>(newest.message), static_cast<std::uint64_t>(newest.logs)};
  for (const std::uint64_t number : numbers) put(bytes, number);
  put(bytes, sum_of_mark(bytes));
  return bytes;
}

std::optional<Mark> decode_mark(const std::string& bytes) {
  const std::string_view all(bytes);
  if (all.size() != kMarkBytes || !all.starts_with(kMarkMagic)) return std::nullopt;
  if (number_in(all, kNumbers + 1) != sum_of_mark(all.substr(0, kMarkBytes - 8))) {
    return std::nullopt;
  }
  const auto at = [&](std::size_t index) {
    return static_cast<std::int64_t>(number_in(all, index));
  };
  return Mark{at(1), {at(2), at(3), number_in(all, 4), at(5), at(6)}};
}

Error MarkFile::failed(const std::string& what) const {
  return mark_failed(name_, what);
}

Result<MarkFile> MarkFile::open(const std::string& directory, const std::string& name, Mode mode) {
  const std::string path = directory + "/" + name;
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Descriptor file(::open(path.c_str(), mode == Mode::made ? flags | O_CREAT : flags, kMarkMode));
  if (!file && errno == ENOENT) return Error{ErrorCode::not_found, path + " is missing"};
  if (!file) return mark_failed(name, "opened");
  return MarkFile(std::move(file), name);
}

Result<MarkFile::Slots> MarkFile::read_slots() const {
  std::array<char, kMarkSlots * kMarkBytes> bytes{};
  const ssize_t got = ::pread(file_.number(), bytes.data(), bytes.size(), 0);
  if (got < 0) return failed("read");
  const std::string text(bytes.data(), static_cast<std::size_t>(got));
  Slots slots;
  for (std::size_t i = 0; i < kMarkSlots && i * kMarkBytes < text.size(); ++i) {
    slots[i] = decode_mark(text.substr(i * kMarkBytes, kMarkBytes));
  }
  return slots;
}

// Of two stores: that of the first slot, which write() writes first.
std::size_t MarkFile::newest_of(const Slots& slots) {
  if (!slots[0]) return 1;
  const bool second = slots[1] && slots[1]->store == slots[0]->store &&
                      newer_of(slots[0]->newest, slots[1]->newest) == slots[1]->newest;
  return second ? 1 : 0;
}

Result<std::optional<Mark>> MarkFile::read() const {
  PAWL_TRY(const Slots slots, read_slots());
  return slots[newest_of(slots)];
}

Status MarkFile::write(const Mark& mark) const {
  const std::string bytes = encode_mark(mark);
  return write_at(0, bytes + bytes);
}

Status MarkFile::write_at(std::size_t offset, const std::string& bytes) const {
  while (true) {
    const ssize_t put =
        ::pwrite(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put == static_cast<ssize_t>(bytes.size())) return ok();
    if (put < 0 && errno == EINTR) continue;
    // Without space it lags: nothing false is in it.
    if (put < 0 && (errno == ENOSPC || errno == EDQUOT)) return ok();
    return failed("written");
  }
}

Status MarkFile::raise(const Mark& mark) const {
  const MarkLock lock(file_.number());
  if (!lock.held()) return failed("locked");
  PAWL_TRY(const Slots slots, read_slots());
  const std::size_t newest = newest_of(slots);
  const std::optional<Mark>& there = slots[newest];
  Mark raised = mark;
  if (there && there->store == mark.store) raised.newest = newer_of(there->newest, mark.newest);
  if (there && *there == raised) return ok();
  return write_at((1 - newest) * kMarkBytes, encode_mark(raised));
}

Status MarkFile::sync() const {
  if (::fdatasync(file_.number()) != 0) return failed("synced");
  return ok();
}

Result<Newest> read_newest(Connection& connection) {
  Newest newest;
  PAWL_TRY(const Placed placed, read_placed(connection));
  newest.generation = placed.generation;
  newest.row = placed.last_row;
  PAWL_TRY(newest.chain, chain_of_row(connection, placed.last_row));
  {
    Query query(connection, kLastMessage);
    PAWL_TRY(const bool found, query.next());
    newest.message = found ? query.number_at(0) : 0;
  }
  PAWL_TRY(const StoreRow store, read_store(connection));
  newest.logs = store.logs;
  return newest;
}

Result<Shortfall> compare_with_mark(Connection& connection, const std::optional<Mark>& mark) {
  PAWL_TRY(const StoreRow store, read_store(connection));
  if (store.marked == kBackup) {
    return Shortfall{.why = "this is a backup that was not put in its place by pawl restore",
                     .is_backup = true};
  }
  if (!mark) {
    return Shortfall{std::string(kMarkName) +
                     " is missing or damaged, so nobody can tell whether "
                     "all that was acknowledged is in the store"};
  }
  if (mark->store != store.id) {
    return Shortfall{std::string(kMarkName) + " belongs to another store: pawl.db was replaced"};
  }
  PAWL_TRY(const Newest newest, read_newest(connection));
  Shortfall shortfall = behind(mark->newest, newest);
  if (!shortfall.none()) return shortfall;
  PAWL_CHECK(refresh_tail(connection));
  if (const std::string& gap = connection.tail().gap; !gap.empty()) {
    return Shortfall{.why = gap + ": pawl.db is damaged", .records = 1};
  }
  PAWL_TRY(const std::string missing, missing_runs(connection));
  if (!missing.empty()) return Shortfall{.why = missing + ": pawl.db is damaged"};
  if (mark->newest.row == 0 || mark->newest.generation != newest.generation) return shortfall;
  PAWL_TRY(const std::uint64_t chain, chain_of_row(connection, mark->newest.row));
  if (chain == mark->newest.chain) return shortfall;
  shortfall.records = 1;
  shortfall.why = "row " + std::to_string(mark->newest.row) +
                  " of table journal is not the one that was acknowledged: the store was cut and "
                  "written to again, or replaced";
  return shortfall;
}

}  // namespace pawl::sqlite
