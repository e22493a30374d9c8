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

enum class Optional : std::uint8_t { no, yes };

// An envelope by hand: version, seq 0, stamp {1, 0, 0}, instance 1, event, no decisions or effects.
std::string record_with(int minor, int type, Optional optional, const std::string& body) {
  const int tag = 2 * type + (optional == Optional::yes ? 1 : 0);
  std::string bytes = bytes_of({kRecordMajor, minor, 0, 1, 1, 1});
  if (tag > 0x7F) {
    bytes += bytes_of({(tag & 0x7F) | 0x80, tag >> 7});
  } else {
    bytes += bytes_of({tag});
  }
  return bytes + bytes_of({static_cast<int>(body.size())}) + body + bytes_of({0, 0});
}

constexpr int kMinor = kRecordMinor;
constexpr int kNewer = kRecordMinor + 1;

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
  for (std::size_t type = 0; type + 1 < kEventTypes; ++type) {
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

  CHECK(encode_record(record) ==
        bytes_of({
            2,    0,                         // version 2.0
            0xAC, 0x02,                      // seq 300
            4,    2,    1, 0x80, 0x01,       // stamp: epoch 2, -1 ms, 128 ms
            1,                               // instance 1
            28,   4,    4, 2,    'n',  'o',  // hook_failed: before_tool, "no"
            1,    0,    2, 1,    7,          // one decision: step_began, i1, step 7
            1,    6,    1, 9,                // one effect: abort_effect, e9
        }));
}

TEST_CASE("an unknown event that may be skipped is kept as it was, and folds to nothing") {
  TestRun run;
  Record record;
  record.minor = kRecordMinor + 1;
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
  std::string bytes = record_with(kNewer, 99, Optional::yes, "?");
  REQUIRE(decode_record(bytes));
  bytes.resize(bytes.size() - 2);

  const auto decoded = decode_record(bytes + bytes_of({1, 36, 0, 0}));  // pause_began

  REQUIRE(!decoded);
  CHECK(decoded.error().code == ErrorCode::corrupt);
}

TEST_CASE("an unknown event that must be understood is refused by its number") {
  const auto decoded = decode_record(record_with(kNewer, 99, Optional::no, "?"));
  REQUIRE(!decoded);
  CHECK(decoded.error().code == ErrorCode::invalid_argument);
  CHECK(decoded.error().message == "event type 99 is not known to this version of Pawl");
}

TEST_CASE("in a record of this version an unknown event is damage, optional or not") {
  for (const Optional optional : {Optional::no, Optional::yes}) {
    for (const int type : {static_cast<int>(kEventTypes) - 1, 99}) {
      const auto decoded = decode_record(record_with(kMinor, type, optional, "?"));
      REQUIRE(!decoded);
      CHECK(decoded.error().code == ErrorCode::corrupt);
    }
  }
}

TEST_CASE("another major version is refused as such, version 0 as damage") {
  for (const auto& [major, how] : {std::pair(1, "older"), std::pair(3, "newer")}) {
    const auto other = decode_record(bytes_of({major, 19, 0, 0}));
    REQUIRE(!other);
    CHECK(other.error().code == ErrorCode::invalid_argument);
    CHECK(other.error().message == "record version " + std::to_string(major) + " is " + how +
                                       " than what this version of Pawl reads (2)");
    CHECK(decode_event(bytes_of({major, 19, 0, 0})).error().code == ErrorCode::invalid_argument);
  }
  const auto zero = decode_record(bytes_of({0, 0, 0, 0}));
  REQUIRE(!zero);
  CHECK(zero.error().code == ErrorCode::corrupt);
}

TEST_CASE("a known event is never marked as skippable") {
  CHECK(decode_record(record_with(kMinor, 19, Optional::no, "")));
  CHECK(!decode_record(record_with(kMinor, 19, Optional::yes, "")));
  CHECK(!decode_record(record_with(kNewer, 19, Optional::yes, "")));
}

TEST_CASE("fields at the end that have their defaults are left out, each in one form only") {
  CallDecided decided;
  CHECK(encode_event(decided) == bytes_of({kRecordMajor, kMinor, 52, 0}));
  decided.signature = "s";
  CHECK(std::get<CallDecided>(*decode_event(encode_event(decided))) == decided);
  CHECK(decode_record(record_with(kMinor, 12, Optional::no, bytes_of({1, 'u', 1, 'r'}))));
  CHECK(decode_record(record_with(kMinor, 12, Optional::no, bytes_of({1, 'u'}))));
  CHECK(decode_record(record_with(kMinor, 12, Optional::no, "")));
  CHECK(!decode_record(record_with(kMinor, 12, Optional::no, bytes_of({1, 'u', 0}))));
  CHECK(!decode_record(record_with(kMinor, 12, Optional::no, bytes_of({0}))));
  CHECK(!decode_record(record_with(kMinor, 12, Optional::no, bytes_of({0, 0}))));
}

TEST_CASE("the body of an event is used up exactly") {
  CHECK(!decode_record(record_with(kMinor, 19, Optional::no, "x")));
  CHECK(!decode_record(record_with(kMinor, 10, Optional::no, bytes_of({1}))));
  CHECK(decode_record(record_with(kMinor, 10, Optional::no, bytes_of({1, 'u'}))));
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

// Pieces of any size make the same bytes, and what happens meanwhile is not in them.
TEST_CASE("a snapshot that is encoded in pieces is the one of its moment") {
  TestRun run;
  run.spawns("helper");
  for (int i = 0; i < 40; ++i) {
    run.replies({calls("pure", std::to_string(i))});
    run.finishes(CallId{run->calls_minted}, "r" + std::to_string(i));
  }
  const std::string whole = run.snapshot();
  const std::size_t entries = snapshot_entries(run.run().state());
  REQUIRE(entries > 80);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, entries}) {
    SnapshotEncoder encoder(run.run());
    Run later = run.run();
    REQUIRE(advance(later, PauseRequested{"ann"}, Stamp{1, 0, later->elapsed_ms}));
    std::size_t pieces = 1;
    while (!encoder.encode(piece)) ++pieces;
    CHECK(pieces >= entries / piece);
    CHECK(encoder.take() == whole);
  }
}

}  // namespace
}  // namespace pawl::testing
