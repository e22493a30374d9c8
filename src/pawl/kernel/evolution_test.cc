// Formats evolve by appending: what programs before and after this one make of the same bytes.
#include <fstream>

#include "pawl/kernel/bytes.h"
#include "pawl/kernel/random_value_test.h"
#include "pawl/kernel/source_test.h"

namespace pawl::testing {
namespace {

struct Part {
  std::uint64_t number = 3;

  PAWL_FACT(Part, "part", PAWL_FIELD(number));
};
struct LaterPart {
  std::uint64_t number = 3;
  std::string word = "w";

  PAWL_FACT(LaterPart, "part", PAWL_FIELD(number) PAWL_FIELD(word));
};
struct Fact {
  std::string name;
  std::vector<Part> parts;

  PAWL_FACT(Fact, "fact", PAWL_FIELD(name) PAWL_FIELD(parts));
};
struct LaterFact {
  std::string name;
  std::vector<LaterPart> parts;
  std::uint32_t times = 7;
  std::optional<std::string> reason;

  PAWL_FACT(LaterFact, "fact",
            PAWL_FIELD(name) PAWL_FIELD(parts) PAWL_FIELD(times) PAWL_FIELD(reason));
};

template <class T>
std::string encoded(const T& value) {
  ByteWriter out;
  out.put(value);
  return out.take();
}

template <class T>
std::optional<std::pair<T, Skipped>> decoded(std::string_view bytes, WrittenBy writer) {
  ByteReader in(bytes, writer);
  T value;
  in.take(value);
  if (in.failed() || !in.at_end()) return std::nullopt;
  return std::pair(value, in.skipped());
}

TEST_CASE("a later program reads what was written before its fields existed: defaults") {
  const std::string bytes = encoded(Fact{"n", {Part{1}, Part{3}}});
  const auto later = decoded<LaterFact>(bytes, WrittenBy::this_version);
  REQUIRE(later);
  CHECK(later->first == LaterFact{"n", {{1, "w"}, {3, "w"}}, 7, std::nullopt});
  CHECK(encoded(later->first) == bytes);
}

TEST_CASE("an earlier program skips later fields if it knows that they may be there") {
  const LaterFact later{"n", {{1, "x"}, {3, "w"}}, 8, "because"};
  const std::string bytes = encoded(later);
  const auto earlier = decoded<Fact>(bytes, WrittenBy::newer);
  REQUIRE(earlier);
  CHECK(earlier->first == Fact{"n", {Part{1}, Part{3}}});
  CHECK(earlier->second == Skipped::fields);
  CHECK_FALSE(decoded<Fact>(bytes, WrittenBy::this_version));
}

TEST_CASE("later fields that have their defaults leave no trace") {
  const std::string bytes = encoded(LaterFact{"n", {{1, "w"}}, 7, std::nullopt});
  CHECK(bytes == encoded(Fact{"n", {Part{1}}}));
  CHECK(decoded<Fact>(bytes, WrittenBy::this_version));
  CHECK(decoded<Fact>(bytes, WrittenBy::newer)->second == Skipped::nothing);
}

TEST_CASE("a default at the end is refused, of whichever version it is") {
  for (const WrittenBy writer : {WrittenBy::this_version, WrittenBy::newer}) {
    CHECK_FALSE(decoded<Part>("\x01\x03", writer));
    CHECK_FALSE(decoded<Fact>(std::string("\x03\x01n\x00", 4), writer));
    CHECK(decoded<Part>("\x01\x04", writer));
    CHECK(decoded<Part>(std::string(1, '\0'), writer)->first == Part{});
  }
}

TEST_CASE("structs of every length have their length before them") {
  for (const std::size_t length : {0U, 1U, 100U, 125U, 126U, 127U, 128U, 20'000U, 3'000'000U}) {
    CAPTURE(length);
    const Fact fact{std::string(length, 'x'), {}};
    const auto again = decoded<Fact>(encoded(fact), WrittenBy::this_version);
    REQUIRE(again);
    CHECK(again->first == fact);
  }
}

// --- Real records -------------------------------------------------------------------------------

std::vector<std::string> golden_records(const std::string& name) {
  constexpr int kBase = 16;
  std::vector<std::string> records;
  std::ifstream file(source_directory() + "/tests/golden/journal-v2/" + name + ".hex");
  for (std::string line; std::getline(file, line) && !line.starts_with("chain ");) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, kBase));
    }
    records.push_back(bytes);
  }
  REQUIRE(!records.empty());
  return records;
}

// What a later program may add to a record.
struct Added {
  std::string event_tail = {};
  std::string decision = {};  // with its tag
  std::string effect = {};
  std::string tail = {};
};

template <class T>
void put_list(ByteWriter& out, const std::vector<T>& items, const std::string& added) {
  out.number(items.size() + (added.empty() ? 0 : 1));
  for (const T& item : items) out.put(item);
  out.raw(added);
}

std::string with(const Record& record, std::uint32_t minor, const Added& added) {
  ByteWriter event;
  event.put(record.event);
  ByteReader parts(event.view());
  const std::uint64_t tag = parts.number();
  const std::string body(parts.raw(parts.number()));
  ByteWriter out;
  out.number(kRecordMajor);
  out.number(minor);
  out.number(record.seq);
  out.put(record.stamp);
  out.put(record.instance);
  out.number(tag);
  out.text(body + added.event_tail);
  put_list(out, record.decisions, added.decision);
  put_list(out, record.effects, added.effect);
  out.raw(added.tail);
  return out.take();
}

std::string unknown(std::uint64_t tag) {
  ByteWriter out;
  out.number(tag);
  out.text("later");
  return out.take();
}

// Of a program of the same version these are damage; of a newer one they are skipped.
TEST_CASE("golden records with what a later program has added") {
  const Added field{.event_tail = "\x05"};
  const Added fact{.decision = unknown(tag_of(200) | kOptionalBit)};
  const Added list{.tail = "\x01\x05"};
  std::size_t read = 0;
  std::vector<std::string> records = golden_records("tools");
  // An event all of whose fields are written: what follows them is no field that is known.
  records.push_back(encode_record(
      Record{records.size(), {1, 0, 0}, kRootInstance, DriverAttached{"p", EffectId{1}}, {}, {}}));
  for (const std::string& bytes : records) {
    const auto plain = decode_record(bytes);
    REQUIRE(plain);
    REQUIRE(with(*plain, plain->minor, {}) == bytes);
    for (const auto& [added, skipped] :
         {std::pair(field, Skipped::fields), std::pair(fact, Skipped::optional),
          std::pair(list, Skipped::fields)}) {
      // Fields that this program does not write, for they have their defaults, come first.
      if (!added.event_tail.empty() && with(*plain, plain->minor, {}) != bytes) continue;
      const auto own = decode_record(with(*plain, kRecordMinor, added));
      if (!added.event_tail.empty() && own) continue;  // The byte was a field's that is known.
      REQUIRE(!own);
      CHECK(own.error().code == ErrorCode::corrupt);
      const auto later = decode_record(with(*plain, kRecordMinor + 1, added));
      if (!later) continue;  // As above: a field that is known, and not such a byte.
      CHECK(later->skipped == skipped);
      CHECK(later->minor == kRecordMinor + 1);
      Record known = *later;
      known.minor = plain->minor;
      known.skipped = Skipped::nothing;
      CHECK(known == *plain);
      ++read;
    }
  }
  CHECK(read > 2 * records.size());
}

TEST_CASE("what a later program adds and must be understood is refused as such") {
  const auto plain = decode_record(golden_records("tools").at(1));
  REQUIRE(plain);
  for (const Added& added :
       {Added{.decision = unknown(tag_of(200))}, Added{.effect = unknown(tag_of(200))},
        Added{.effect = unknown(tag_of(200) | kOptionalBit)}}) {
    const auto later = decode_record(with(*plain, kRecordMinor + 1, added));
    REQUIRE(!later);
    CHECK(later.error().code == ErrorCode::invalid_argument);
    CHECK(later.error().message == "a record of version 2." + std::to_string(kRecordMinor + 1) +
                                       " holds what this version of Pawl (" + record_version() +
                                       ") does not know");
    CHECK(decode_record(with(*plain, kRecordMinor, added)).error().code == ErrorCode::corrupt);
  }
}

TEST_CASE("of a message in the inbox nothing is skipped") {
  ByteWriter out;
  out.number(kRecordMajor);
  out.number(kRecordMinor + 1);
  out.number(tag_of(Event(CancelRequested{}).index()));
  const std::string head = out.take();
  CHECK(decode_event(head + std::string("\x04\x01u\x01r")));
  const auto later = decode_event(head + std::string("\x05\x01u\x01r\x01"));
  REQUIRE(!later);
  CHECK(later.error().code == ErrorCode::invalid_argument);
}

// A later program with one more field of an event reads today's goldens.
struct LaterHookFailed {
  HookPoint point = HookPoint::before_agent;
  std::string message;
  std::uint64_t times = 3;

  PAWL_FACT(LaterHookFailed, "hook_failed",
            PAWL_FIELD(point) PAWL_FIELD(message) PAWL_FIELD(times));
};

TEST_CASE("a golden event is read with one more field, and written as it was") {
  std::size_t found = 0;
  for (const std::string& bytes : golden_records("callbacks")) {
    const auto record = decode_record(bytes);
    REQUIRE(record);
    const auto* failed = std::get_if<HookFailed>(&record->event);
    if (failed == nullptr) continue;
    const std::string body = encoded(*failed);
    REQUIRE(bytes.find(body) != std::string::npos);
    const auto later = decoded<LaterHookFailed>(body, WrittenBy::this_version);
    REQUIRE(later);
    CHECK(later->first == LaterHookFailed{failed->point, failed->message, 3});
    CHECK(encoded(later->first) == body);
    ++found;
  }
  CHECK(found > 0);
}

// --- Defaults -----------------------------------------------------------------------------------

// A struct within a struct is left out when all of its own fields are: so its default is theirs.
class Defaults {
 public:
  template <HasFields T>
  void check() {
    T::fields(kDefault<T>, [this](const char* field, const auto& value) {
      using Field = std::decay_t<decltype(value)>;
      if constexpr (HasFields<Field>) {
        CHECK_MESSAGE(value == Field{}, T::kName, ".", field);
        ++checked_;
      }
      descend(value);
    });
  }
  template <class... T>
  void descend(const std::variant<T...>&) {
    (check_alternative<T>(), ...);
  }
  std::size_t checked() const { return checked_; }

 private:
  template <class T>
  void check_alternative() {
    if constexpr (HasFields<T>) check<T>();
  }
  template <HasFields T>
  void descend(const T&) {
    check<T>();
  }
  template <class T>
  void descend(const std::vector<T>&) {
    descend(kDefault<T>);
  }
  template <class T>
  void descend(const std::optional<T>&) {
    descend(kDefault<T>);
  }
  template <class T>
    requires(!HasFields<T>)
  void descend(const T&) {}

  std::size_t checked_ = 0;
};

TEST_CASE("a struct within a struct has the defaults of its own type") {
  Defaults defaults;
  defaults.descend(static_cast<const AnyEvent&>(kDefault<Event>));
  defaults.descend(static_cast<const AnyDecision&>(kDefault<Decision>));
  defaults.descend(static_cast<const AnyEffect&>(kDefault<Effect>));
  defaults.check<RunState>();
  defaults.check<Stamp>();
  CHECK(defaults.checked() > 20);
}

}  // namespace
}  // namespace pawl::testing
