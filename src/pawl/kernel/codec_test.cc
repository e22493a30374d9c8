// The bytes of the journal: one value, one encoding.
#include "pawl/kernel/codec.h"

#include "pawl/kernel/random_value_test.h"

namespace pawl::testing {
namespace {

constexpr std::size_t kEventTypes = std::variant_size_v<Event>;

std::string bytes_of(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes.push_back(static_cast<char>(value));
  return bytes;
}

// An envelope by hand: version, seq 0, stamp {1, 0, 0}, instance 1, event, no decisions or effects.
std::string record_with(int version, int type, int flags, const std::string& body) {
  std::string bytes = bytes_of({version, 0, 1, 0, 0, 1, type, flags});
  bytes.push_back(static_cast<char>(body.size()));
  return bytes + body + bytes_of({0, 0});
}

TEST_CASE("records with every type of event survive, and have one encoding") {
  Rng rng(1);
  for (std::size_t type = 0; type < kEventTypes; ++type) {
    for (int i = 0; i < 100; ++i) {
      const Record record = random_record(rng, type);
      const std::string bytes = encode_record(record);
      const auto decoded = decode_record(bytes);
      REQUIRE_MESSAGE(decoded, name(record.event));
      CHECK(*decoded == record);
      CHECK(encode_record(*decoded) == bytes);
    }
  }
}

template <class V>
void check_every_alternative(Rng& rng) {
  for (std::size_t i = 0; i < std::variant_size_v<V>; ++i) {
    for (int n = 0; n < 50; ++n) {
      V value;
      RandomValue(rng).fill_as(value, i);
      ByteWriter out;
      out.put(value);
      ByteReader in(out.view());
      V decoded;
      in.take(decoded);
      CHECK((!in.failed() && in.at_end() && decoded == value));
    }
  }
}

TEST_CASE("every decision, effect, block and phase survives") {
  Rng rng(2);
  check_every_alternative<Decision>(rng);
  check_every_alternative<Effect>(rng);
  check_every_alternative<Block>(rng);
  check_every_alternative<Phase>(rng);
  check_every_alternative<CallState>(rng);
  check_every_alternative<Course>(rng);
}

TEST_CASE("events on their way through the inbox survive") {
  Rng rng(3);
  for (std::size_t type = 0; type < kEventTypes; ++type) {
    const Event event = random_record(rng, type).event;
    const auto decoded = decode_event(encode_event(event));
    REQUIRE(decoded);
    CHECK(*decoded == event);
    CHECK(!decode_event(encode_event(event) + "x"));
  }
}

TEST_CASE("a record is as docs/journal-format.md spells it") {
  Record record;
  record.seq = 300;
  record.stamp = {2, -1, 128};
  record.instance = kRootInstance;
  record.event = HookFailed{HookPoint::before_tool, "no"};
  record.decisions = {StepBegan{InstanceId{1}, 7}};
  record.effects = {AbortEffect{EffectId{9}}};

  CHECK(encode_record(record) == bytes_of({
                                     1,                       // version
                                     0xAC, 0x02,              // seq 300
                                     2,    1,    0x80, 0x01,  // epoch 2, wall time -1, elapsed 128
                                     1,                       // instance 1
                                     14,   0,    4,           // hook_failed, no flags, 4 bytes
                                     4,    2,    'n',  'o',   // before_tool, "no"
                                     1,    0,    1,    7,  // one decision: step_began, i1, step 7
                                     1,    3,    9,        // one effect: abort_effect, e9
                                 }));
}

TEST_CASE("an unknown event that may be skipped is kept as it was, and folds to nothing") {
  TestRun run;
  Record record;
  record.seq = 1;
  record.stamp = {1, 5, 7};
  record.event = Unrecognised{kEventTypes + 3, "from the future"};
  const std::string bytes = encode_record(record);

  const auto decoded = decode_record(bytes);

  REQUIRE(decoded);
  CHECK(*decoded == record);
  CHECK(encode_record(*decoded) == bytes);
  Run folded = run.run();
  REQUIRE(fold(folded, *decoded));
  CHECK(folded->instances == run->instances);
  CHECK(folded->open == run->open);
  CHECK(folded->length == 2);
}

TEST_CASE("an event that may be skipped has no consequences, or is refused") {
  std::string bytes = record_with(1, 99, 1, "?");
  REQUIRE(decode_record(bytes));
  bytes.resize(bytes.size() - 2);
  bytes += bytes_of({1, 18, 0});  // pause_began

  const auto decoded = decode_record(bytes);

  REQUIRE(!decoded);
  CHECK(decoded.error().code == ErrorCode::corrupt);
}

TEST_CASE("an unknown event that must be understood is refused by its number") {
  const auto decoded = decode_record(record_with(1, 99, 0, "?"));
  REQUIRE(!decoded);
  CHECK(decoded.error().code == ErrorCode::invalid_argument);
  CHECK(decoded.error().message == "event type 99 is not known to this version of Pawl");
}

TEST_CASE("a newer version is refused as such, version 0 as damage") {
  for (const auto& bytes : {record_with(2, 19, 0, ""), bytes_of({2, 19, 0, 0})}) {
    const auto newer = decode_record(bytes);
    REQUIRE(!newer);
    CHECK(newer.error().code == ErrorCode::invalid_argument);
    CHECK(newer.error().message == "record version 2 is newer than this version of Pawl");
  }
  const auto newer = decode_event(bytes_of({2, 19, 0, 0}));
  REQUIRE(!newer);
  CHECK(newer.error().code == ErrorCode::invalid_argument);

  const auto zero = decode_record(record_with(0, 19, 0, ""));
  REQUIRE(!zero);
  CHECK(zero.error().code == ErrorCode::corrupt);
  CHECK(decode_record(record_with(1, 19, 0, "")));
}

TEST_CASE("a known event is never marked as skippable, and flags are known") {
  CHECK(!decode_record(record_with(1, 19, 1, "")));
  CHECK(!decode_record(record_with(1, 19, 2, "")));
  CHECK(!decode_record(record_with(1, 99, 2, "")));
}

TEST_CASE("a number that an event got later is left out while it is 0") {
  CallDecided decided;
  decided.by = "ann";
  const std::string without = encode_event(decided);
  decided.answer = 7;
  const std::string with = encode_event(decided);
  CHECK(with.size() == without.size() + 1);
  CHECK(std::get<CallDecided>(*decode_event(with)).answer == 7);
  CHECK(std::get<CallDecided>(*decode_event(without)).answer == 0);
  std::string spelled_out = with;
  spelled_out.back() = '\0';
  CHECK_FALSE(decode_event(spelled_out));
}

TEST_CASE("later fields that are empty at the end are left out, each in one form only") {
  CallDecided decided;
  const std::size_t shortest = encode_event(decided).size();
  decided.signature = "s";
  CHECK(encode_event(decided).size() == shortest + 3);  // also the number before it
  CHECK(std::get<CallDecided>(*decode_event(encode_event(decided))) == decided);
  decided.signed_by = "bob";
  CHECK(std::get<CallDecided>(*decode_event(encode_event(decided))) == decided);
  RunStarted started;
  CHECK(std::get<RunStarted>(*decode_event(encode_event(started))) == started);
  const std::size_t bare = encode_event(started).size();
  started.start_signature = "s";
  CHECK(encode_event(started).size() == bare + 3);
  CHECK(std::get<RunStarted>(*decode_event(encode_event(started))) == started);
  started.signers = {{"ann", {"k"}}};
  CHECK(std::get<RunStarted>(*decode_event(encode_event(started))) == started);
}

TEST_CASE("the body of an event is used up exactly") {
  CHECK(!decode_record(record_with(1, 19, 0, "x")));
  CHECK(!decode_record(record_with(1, 10, 0, bytes_of({1}))));
  CHECK(decode_record(record_with(1, 10, 0, bytes_of({1, 'u'}))));
}

TEST_CASE("every chain link depends on all before it, and the first on the run's id") {
  const Digest origin = chain_origin(RunId{"r1"});
  CHECK(origin == sha256("pawl-journal-1:r1"));
  CHECK(origin != chain_origin(RunId{"r2"}));
  const Digest first = chain_after(origin, "a");
  CHECK(first == sha256(std::string(origin.view()) + "a"));
  CHECK(chain_after(first, "b") != chain_after(origin, "b"));
}

TEST_CASE("a snapshot of another version is thrown away") {
  const TestRun run;
  std::string bytes = run.snapshot();
  REQUIRE(decode_snapshot(bytes));
  for (const int other : {-1, 1}) {
    bytes[0] = static_cast<char>(kSnapshotVersion + other);
    CHECK(!decode_snapshot(bytes));
  }
  CHECK(!decode_snapshot(""));
  CHECK(!decode_snapshot(run.snapshot() + "x"));
}

TEST_CASE("a question is its call and exactly what was asked") {
  CallDecided event;
  event.call = CallId{1};
  event.binding = sha256("pay 5");
  const auto asked = question_of(encode_event(event));
  REQUIRE(asked);

  CallDecided again = event;
  again.decision = InterruptDecision::reject;
  again.by = "ann";
  CHECK(question_of(encode_event(again)) == asked);
  CallDecided other = event;
  other.binding = sha256("pay 50");
  CHECK(question_of(encode_event(other)) != asked);
  other = event;
  other.call = CallId{2};
  CHECK(question_of(encode_event(other)) != asked);
  CHECK(question_of(encode_event(PauseRequested{})) == std::nullopt);
}

}  // namespace
}  // namespace pawl::testing
