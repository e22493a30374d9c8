// Damaged bytes: refused, or what exactly these bytes say. Never a crash, never a guess.
#include "pawl/kernel/random_value_test.h"

namespace pawl::testing {
namespace {

// True when the bytes were refused.
bool check_record(std::string_view bytes) {
  const auto decoded = decode_record(bytes);
  if (!decoded) return true;
  if (!is_understood(*decoded)) {  // What follows is a newer program's, and nobody acts on it.
    CHECK(decoded->minor > kRecordMinor);
    return true;
  }
  CHECK(encode_record(*decoded) == bytes);
  return false;
}

bool check_snapshot(std::string_view bytes) {
  const auto decoded = decode_snapshot(bytes);
  if (!decoded) return true;
  CHECK(encode_snapshot(*decoded) == bytes);
  return false;
}

std::vector<std::string> samples() {
  Rng rng(4);
  std::vector<std::string> all;
  for (std::size_t type = 0; type < std::variant_size_v<Event>; ++type) {
    for (int i = 0; i < 3; ++i) all.push_back(encode_record(random_record(rng, type)));
  }
  TestRun run;
  run.replies({says("x"), calls("once", R"({"a":1})"), calls("nope")});
  run.crashes();
  for (const Record& record : run.records()) all.push_back(encode_record(record));
  return all;
}

TEST_CASE("every truncation of a record is refused") {
  for (const std::string& bytes : samples()) {
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      REQUIRE(check_record(std::string_view(bytes).substr(0, length)));
    }
    REQUIRE(check_record(bytes + '\0'));
  }
}

TEST_CASE("every flipped bit of a record is refused, or changes what it says") {
  std::size_t flips = 0;
  std::size_t refused = 0;
  for (const std::string& bytes : samples()) {
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      ++flips;
      refused += check_record(damaged) ? 1U : 0U;
    }
  }
  MESSAGE(refused << " of " << flips << " flipped bits are refused by the codec alone");
  CHECK(refused > 0);
}

TEST_CASE("random damage of several bytes is no different") {
  Rng rng(5);
  const std::vector<std::string> all = samples();
  for (int i = 0; i < 50'000; ++i) {
    std::string damaged = rng.pick(all);
    for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
    }
    check_record(damaged);
  }
}

TEST_CASE("damaged snapshots are refused, or are what they say") {
  TestRun run;
  run.spawns("helper");
  run.replies({says("x"), calls("once"), calls("recon")});
  run.crashes();
  run.hears("message");
  const std::string bytes = run.snapshot();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    REQUIRE(check_snapshot(std::string_view(bytes).substr(0, length)));
  }
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    check_snapshot(damaged);
  }
}

// Whatever a record says, folding it is an error or not, but never a crash.
TEST_CASE("records of nonsense do not crash the run that they are folded into") {
  Rng rng(6);
  for (int i = 0; i < 20'000; ++i) {
    TestRun base;
    if (rng.one_in(2)) base.replies({calls("once"), calls("recon")});
    Run run = base.run();
    Record record = random_record(rng, 1 + rng.below(std::variant_size_v<Event> - 1));
    record.seq = run->length;
    record.stamp = {1, 0, run->elapsed_ms};
    const Status folded = fold(run, record);
    if (!folded) CHECK(folded.error().code == ErrorCode::corrupt);
    (void)status_of(run.state());
    (void)wake_at(run.state());
  }
}

template <class T>
std::size_t room_taken(std::string_view bytes, std::vector<T>& values) {
  ByteReader in(bytes);
  in.take(values);
  return values.capacity() * sizeof(T);
}

// A list grows by doubling, so that it may have twice the room that it needs.
TEST_CASE("what is built from few bytes is bounded by how many they are") {
  constexpr std::size_t kCountInBytes = 100'000;
  ByteWriter hostile;
  hostile.number(kCountInBytes);
  hostile.raw(std::string(kCountInBytes, '\0'));
  const std::size_t bound = 2 * (kListRoomBase + kListRoomPerByte * hostile.size());
  std::vector<Instance> instances;  // whose fields all have their defaults
  CHECK(room_taken(hostile.view(), instances) <= bound);
  CHECK(instances.size() < kCountInBytes);
  std::vector<Block> blocks;
  CHECK(room_taken(hostile.view(), blocks) <= bound);
  CHECK(blocks.size() < kCountInBytes);

  std::vector<PinnedTool> tools;
  CHECK(room_taken(std::string(1000, '\x7F'), tools) <= 2 * (kListRoomBase + 64 * 1000));
}

TEST_CASE("records with as much in them as a run can make are read") {
  Record record = TestRun().last();
  for (std::uint64_t i = 1; i <= 20'000; ++i) {
    record.decisions.emplace_back(CallInDoubt{CallId{i % 100}});
    record.effects.emplace_back(AbortEffect{EffectId{i % 100}});
  }
  const auto decoded = decode_record(encode_record(record));
  REQUIRE(decoded);
  CHECK(*decoded == record);

  ModelReplied reply;
  reply.blocks.assign(20'000, TextBlock{});
  record.event = reply;
  const auto replied = decode_record(encode_record(record));
  REQUIRE(replied);
  CHECK(*replied == record);
}

TEST_CASE("a list that claims more than there is is refused before it is built") {
  const TestRun run;
  std::string bytes = encode_record(run.last());
  // The counts of decisions and effects are the last but few bytes; claim 2^60 of everything.
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::string huge("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x0F");
    check_record(bytes.substr(0, at) + huge + bytes.substr(at + 1));
  }
}

}  // namespace
}  // namespace pawl::testing
