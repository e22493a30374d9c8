#include <doctest/doctest.h>

#include <array>
#include <limits>

#include "pawl/base/document.h"

namespace pawl {
namespace {

Node text(std::string value, Mark mark = {}) {
  return Node::make_string(std::move(value), mark);
}

Node integer(std::int64_t value) {
  return Node::make_integer(value, std::to_string(value), {});
}

Node map_of(std::string key, Node value) {
  return Node::make_map({{std::move(key), {4, 2}, std::move(value)}}, {3, 1});
}

// What one take of `key` makes of a value: its faults as text.
template <class Take>
std::string complaints(Node value, Take take) {
  const Node map = map_of("key", std::move(value));
  std::vector<Fault> faults;
  MapReader reader(map, faults, "part");
  take(reader);
  reader.finish();
  return to_string(faults, "f");
}

TEST_CASE("durations are read in their forms") {
  CHECK(parse_duration_ms("250ms") == 250);
  CHECK(parse_duration_ms("30s") == 30'000);
  CHECK(parse_duration_ms("10m") == 600'000);
  CHECK(parse_duration_ms("1h") == 3'600'000);
  CHECK(parse_duration_ms("2d") == 172'800'000);
  CHECK(parse_duration_ms("5") == 5'000);
  CHECK(parse_duration_ms("0") == 0);
}

TEST_CASE("what is no duration is refused") {
  for (const char* bad : {"", "s", "-1s", "-0", "+1s", "1.5s", "1 s", "1S", "1min", " 1s", "1s ",
                          "0x1", "9223372036854775807d", "99999999999999999999ms"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_duration_ms(bad));
  }
}

TEST_CASE("byte counts are read in their forms") {
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("64KiB") == 65'536);
  CHECK(parse_bytes("2MiB") == 2'097'152);
  CHECK(parse_bytes("1GiB") == 1'073'741'824);
  CHECK(parse_bytes("3KB") == 3'000);
  CHECK(parse_bytes("3kB") == 3'000);
  CHECK(parse_bytes("10MB") == 10'000'000);
  CHECK(parse_bytes("1GB") == 1'000'000'000);
  for (const char* bad :
       {"", "K", "1K", "1 KiB", "-1", "1.5MB", "1kib", "9223372036854775807KiB"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_bytes(bad));
  }
}

TEST_CASE("a near miss is recognised and a far one is not") {
  const std::vector<std::string> known = {"timeout", "retries", "id"};
  CHECK(nearest("timeuot", known) == "timeout");
  CHECK(nearest("tmeout", known) == "timeout");
  CHECK(nearest("retrys", known) == "retries");
  CHECK(nearest("ide", known) == "id");
  CHECK(nearest("colour", known).empty());
  CHECK(nearest("x", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest(std::string(10'000, 't'), known).empty());
}

TEST_CASE("a well formed map is read without faults") {
  const Node map = Node::make_map({{"name", {}, text("n")},
                                   {"count", {}, integer(3)},
                                   {"on", {}, Node::make_bool(true, "true", {})},
                                   {"ratio", {}, Node::make_decimal(0.5, "0.5", {})},
                                   {"wait", {}, text("2m")},
                                   {"pause", {}, integer(2)},
                                   {"room", {}, text("1KiB")},
                                   {"tags", {}, Node::make_list({text("a"), text("b")}, {})},
                                   {"mode", {}, text("slow")},
                                   {"inner", {}, Node::make_map({}, {})}},
                                  {});
  std::vector<Fault> faults;
  MapReader reader(map, faults, "part");
  std::string name;
  int count = 0;
  bool on = false;
  double ratio = 0;
  std::int64_t wait_ms = 0;
  std::uint32_t pause_ms = 0;
  std::size_t room = 0;
  std::vector<std::string> tags;
  constexpr std::array<std::string_view, 2> kModes = {"fast", "slow"};

  CHECK(reader.require_string("name", name));
  CHECK(reader.take_int("count", {1, 9}, count));
  CHECK(reader.take_bool("on", on));
  CHECK(reader.take_double("ratio", 0, 1, ratio));
  CHECK(reader.take_duration_ms("wait", {0, 600'000}, wait_ms));
  CHECK(reader.take_duration_ms("pause", {0, 600'000}, pause_ms));
  CHECK(reader.take_bytes("room", {1, 4096}, room));
  CHECK(reader.take_string_list("tags", tags));
  CHECK(reader.take_choice("mode", kModes) == 1);
  CHECK(reader.take_map("inner") != nullptr);
  reader.finish();

  CHECK(to_string(faults, "f") == "");
  CHECK(name == "n");
  CHECK(count == 3);
  CHECK(on);
  CHECK(ratio == 0.5);
  CHECK(wait_ms == 120'000);
  CHECK(pause_ms == 2'000);
  CHECK(room == 1024);
  CHECK(tags == std::vector<std::string>{"a", "b"});
}

TEST_CASE("an absent key leaves the default") {
  const Node map = Node::make_map({}, {});
  std::vector<Fault> faults;
  MapReader reader(map, faults, "part");
  std::string name = "default";
  int count = 7;

  CHECK_FALSE(reader.take_string("name", name));
  CHECK_FALSE(reader.take_int("count", {0, 9}, count));
  reader.finish();

  CHECK(faults.empty());
  CHECK(name == "default");
  CHECK(count == 7);
}

TEST_CASE("a missing required key is a fault at the map") {
  const Node map = Node::make_map({}, {3, 1});
  std::vector<Fault> faults;
  MapReader reader(map, faults, "part");
  std::string name;

  CHECK_FALSE(reader.require_string("name", name));

  CHECK(to_string(faults, "f") == "f:3:1: part: \"name\" is missing (add \"name\")\n");
}

TEST_CASE("an unknown key is a fault with a suggestion") {
  const Node map = map_of("timeuot", integer(1));
  std::vector<Fault> faults;
  MapReader reader(map, faults, "part");
  reader.take("timeout");
  reader.take("name");
  reader.finish();

  CHECK(to_string(faults, "f") ==
        "f:4:2: part: unknown key \"timeuot\" (did you mean \"timeout\"?)\n");
}

TEST_CASE("an unknown key that resembles nothing lists the known keys") {
  const Node map = map_of("colour", integer(1));
  std::vector<Fault> faults;
  MapReader reader(map, faults, "");
  reader.take("timeout");
  reader.take("name");
  reader.finish();

  CHECK(to_string(faults, "f") == "f:4:2: unknown key \"colour\" (known keys: timeout, name)\n");
}

TEST_CASE("a value of the wrong kind names what was expected and found") {
  std::string string = "kept";
  bool flag = false;
  std::vector<std::string> strings = {"kept"};
  CHECK(complaints(integer(3), [&](MapReader& r) { r.take_string("key", string); }) ==
        "f: part: \"key\" must be a string, found the integer 3 (put it in quotes)\n");
  CHECK(complaints(text("yes"), [&](MapReader& r) { r.take_bool("key", flag); }) ==
        "f: part: \"key\" must be true or false, found the string \"yes\"\n");
  CHECK(complaints(text("a"), [&](MapReader& r) { r.take_string_list("key", strings); }) ==
        "f: part: \"key\" must be a list, found the string \"a\"\n");
  CHECK(complaints(Node::make_list({text("a"), integer(1)}, {}), [&](MapReader& r) {
          r.take_string_list("key", strings);
        }) == "f: part: an item of \"key\" must be a string, found the integer 1\n");
  CHECK(complaints(integer(1), [&](MapReader& r) { r.take_strings("key", 1, strings); }) ==
        "f: part: \"key\" must be a string, found the integer 1 (put it in quotes)\n");
  CHECK(complaints(Node::make_list({text("a"), text("b")}, {}), [&](MapReader& r) {
          r.take_strings("key", 1, strings);
        }) == "f: part: \"key\" may have 1 parts\n");
  CHECK(complaints(Node(), [](MapReader& r) { r.take_map("key"); }) ==
        "f: part: \"key\" must be a map, found nothing\n");
  CHECK(string == "kept");
  CHECK(strings == std::vector<std::string>{"kept"});
}

TEST_CASE("strings are one or a list of them") {
  const Node map = Node::make_map(
      {{"one", {}, text("a")}, {"two", {}, Node::make_list({text("a"), text("b")}, {})}}, {});
  std::vector<Fault> faults;
  MapReader reader(map, faults, "part");
  std::vector<std::string> one;
  std::vector<std::string> two;
  CHECK(reader.take_strings("one", 2, one));
  CHECK(reader.take_strings("two", 2, two));
  CHECK_FALSE(reader.take_strings("three", 2, two));
  CHECK(one == std::vector<std::string>{"a"});
  CHECK(two == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a value out of range names the range") {
  int count = 1;
  double ratio = 0.25;
  CHECK(complaints(integer(10), [&](MapReader& r) { r.take_int("key", {0, 9}, count); }) ==
        "f: part: \"key\" must be an integer from 0 to 9, found the integer 10\n");
  CHECK(complaints(Node::make_integer(std::nullopt, "99999999999999999999", {}),
                   [&](MapReader& r) { r.take_int("key", {0, 9}, count); }) ==
        "f: part: \"key\" must be an integer from 0 to 9, found the integer "
        "99999999999999999999\n");
  CHECK(complaints(integer(2), [&](MapReader& r) { r.take_double("key", 0, 1.5, ratio); }) ==
        "f: part: \"key\" must be a number from 0 to 1.5, found the integer 2\n");
  CHECK(complaints(text("2h"),
                   [&](MapReader& r) { r.take_duration_ms("key", {1, 90'000}, count); }) ==
        "f: part: \"key\" must be a duration from 1ms to 90s, found the string \"2h\" "
        "(write it as 250ms, 30s, 10m, 1h or 2d)\n");
  CHECK(complaints(text("2 MB"), [&](MapReader& r) { r.take_bytes("key", {1, 4096}, count); }) ==
        "f: part: \"key\" must be a number of bytes from 1 to 4096, found the string \"2 MB\" "
        "(write it as 4096, 64KiB or 10MB)\n");
  CHECK(count == 1);
  CHECK(ratio == 0.25);
}

TEST_CASE("a choice outside the words lists them") {
  constexpr std::array<std::string_view, 2> kModes = {"fast", "slow"};
  const auto take = [&](MapReader& reader) { CHECK_FALSE(reader.take_choice("key", kModes)); };
  CHECK(complaints(text("slwo"), take) ==
        "f: part: \"key\" must be one of fast, slow, found the string \"slwo\" "
        "(did you mean \"slow\"?)\n");
  CHECK(complaints(integer(1), take) ==
        "f: part: \"key\" must be one of fast, slow, found the integer 1\n");
}

TEST_CASE("a node that is no map is one fault and then silence") {
  const Node list = Node::make_list({}, {2, 5});
  std::vector<Fault> faults;
  MapReader reader(list, faults, "part");
  std::string name;
  reader.require_string("name", name);
  reader.take("other");
  reader.finish();

  CHECK(to_string(faults, "f") == "f:2:5: part: must be a map, found a list\n");
}

}  // namespace
}  // namespace pawl
