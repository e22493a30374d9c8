#include "pawl/base/document.h"

#include <doctest/doctest.h>

#include "pawl/json.h"

namespace pawl {
namespace {

Node text(std::string value) {
  return Node::make_string(std::move(value), {});
}

Node integer(std::int64_t value) {
  return Node::make_integer(value, std::to_string(value), {});
}

TEST_CASE("a fault reads like a compiler's message") {
  CHECK(to_string(Fault{{3, 7}, "no such key", "remove it"}, "a.yaml") ==
        "a.yaml:3:7: no such key (remove it)");
  CHECK(to_string(Fault{{}, "too large", ""}, "a.yaml") == "a.yaml: too large");
  CHECK(to_string(std::vector<Fault>{{{1, 1}, "x", ""}, {{2, 1}, "y", ""}}, "f") ==
        "f:1:1: x\nf:2:1: y\n");
}

TEST_CASE("faults are kept up to a bound") {
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < 2 * kFaultsMax; ++i) add_fault(faults, {{}, "x", ""});

  CHECK(faults.size() == kFaultsMax);
}

TEST_CASE("a node answers only as what it is") {
  const Node null;
  const Node yes = Node::make_bool(true, "True", {2, 3});
  const Node three = integer(3);
  const Node half = Node::make_decimal(0.5, ".5", {});
  const Node word = text("3");

  CHECK(null.kind() == Node::Kind::null);
  CHECK(null.mark() == Mark{});
  CHECK(yes.as_bool() == true);
  CHECK(yes.text() == "True");
  CHECK(yes.mark() == Mark{2, 3});
  CHECK_FALSE(yes.as_int());
  CHECK(three.as_int() == 3);
  CHECK(three.as_double() == 3.0);
  CHECK_FALSE(three.as_string());
  CHECK(half.as_double() == 0.5);
  CHECK_FALSE(half.as_int());
  CHECK(word.as_string() == "3");
  CHECK_FALSE(word.as_int());
  CHECK_FALSE(word.as_bool());
  CHECK(word.items().empty());
  CHECK(word.members().empty());
}

TEST_CASE("an integer too large for 64 bits keeps its text") {
  const Node node = Node::make_integer(std::nullopt, "18446744073709551616", {});

  CHECK(node.kind() == Node::Kind::integer);
  CHECK_FALSE(node.as_int());
  CHECK(to_json(node) == "18446744073709551616");
  CHECK(to_json(Node::make_integer(std::nullopt, "+018446744073709551616", {})) ==
        "18446744073709551616");
  CHECK(to_json(Node::make_integer(std::nullopt, "-018446744073709551616", {})) ==
        "-18446744073709551616");
}

TEST_CASE("a map is searched by key and keeps its order") {
  const Node map = Node::make_map({{"b", {1, 1}, integer(1)}, {"a", {2, 1}, integer(2)}}, {1, 1});

  REQUIRE(map.find("a") != nullptr);
  CHECK(map.find("a")->as_int() == 2);
  CHECK(map.find("c") == nullptr);
  CHECK(map.members().front().key == "b");
  CHECK(integer(1).find("a") == nullptr);
}

TEST_CASE("a copy is deep") {
  const Node list = Node::make_list({integer(1)}, {});
  const Node copy = list;

  CHECK(&copy.items().front() != &list.items().front());
  CHECK(to_json(copy) == to_json(list));
}

TEST_CASE("a tree becomes JSON") {
  const Node tree = Node::make_map(
      {{"a\"", {}, Node::make_list({Node(), Node::make_bool(false, "FALSE", {}), text("x\n")}, {})},
       {"b", {}, Node::make_map({}, {})},
       {"c", {}, Node::make_list({}, {})}},
      {});

  CHECK(to_json(tree) == R"({"a\"":[null,false,"x\n"],"b":{},"c":[]})");
}

TEST_CASE("a number keeps its text in JSON only where JSON allows it") {
  const auto decimal = [](double value, const char* written) {
    return to_json(Node::make_decimal(value, written, {}));
  };
  const auto whole = [](std::int64_t value, const char* written) {
    return to_json(Node::make_integer(value, written, {}));
  };
  CHECK(decimal(1.5, "1.50") == "1.50");
  CHECK(decimal(1.5, "-1.5E+3") == "-1.5E+3");
  CHECK(decimal(0.5, ".5") == "0.5");
  CHECK(decimal(5, "5.") == "5.0");
  CHECK(decimal(1.5, "+1.5") == "1.5");
  CHECK(decimal(1e30, "1.e30") == "1e+30");
  CHECK(whole(31, "0x1F") == "31");
  CHECK(whole(7, "007") == "7");
  CHECK(whole(7, "+7") == "7");
  CHECK(whole(0, "0") == "0");
  CHECK(whole(0, "-0") == "-0");
  for (const char* written : {"1.50", "-1.5E+3", "-0", "0.0"}) CHECK(check_json(written));
}

TEST_CASE("kinds are described in words") {
  CHECK(describe_kind(Node()) == "nothing");
  CHECK(describe_kind(Node::make_bool(true, "true", {})) == "the boolean true");
  CHECK(describe_kind(integer(3)) == "the integer 3");
  CHECK(describe_kind(Node::make_decimal(1.5, "1.5", {})) == "the decimal 1.5");
  CHECK(describe_kind(text("x")) == "the string \"x\"");
  CHECK(describe_kind(Node::make_list({}, {})) == "a list");
  CHECK(describe_kind(Node::make_map({}, {})) == "a map");
}

TEST_CASE("quoted text cannot disturb a terminal and is cut between characters") {
  CHECK(quoted("a\"b\\c") == R"("a\"b\\c")");
  CHECK(quoted("\x1B[2J\n") == R"("\x1B[2J\x0A")");
  CHECK(quoted("\xC2\x9B"
               "2J") == R"("\x9B2J")");
  CHECK(quoted("\xC2\xA0") == "\"\xC2\xA0\"");
  CHECK(quoted(std::string(60, 'a')) == "\"" + std::string(60, 'a') + "\"");
  CHECK(quoted(std::string(61, 'a')) == "\"" + std::string(60, 'a') + "...\"");
  CHECK(quoted(std::string(59, 'a') + "\xC3\xA9"
                                      "b") == "\"" + std::string(59, 'a') + "\xC3\xA9...\"");
}

}  // namespace
TEST_CASE("a whole tree can be said to come from another file of a document") {
  Node root =
      Node::make_map({{"a", {1, 1}, Node::make_list({Node::make_null({1, 5})}, {1, 4})}}, {1, 1});
  CHECK(root.find("a")->mark() == Mark{1, 4, 0});
  root.set_file(2);
  CHECK(root.mark() == Mark{1, 1, 2});
  CHECK(root.members().front().key_mark == Mark{1, 1, 2});
  CHECK(root.find("a")->items().front().mark() == Mark{1, 5, 2});
}

}  // namespace pawl
