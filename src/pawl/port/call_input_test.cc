#include "pawl/port/call_input.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

Node script_of(std::vector<Member> members) {
  return Node::make_map(std::move(members), {1, 1});
}

Member input(Node value) {
  return {"input", {2, 1}, std::move(value)};
}

const Node kMap = Node::make_map({}, {2, 8});
const Node kText = Node::make_string("{", {3, 8});

TEST_CASE("arguments are a map or a string of any bytes") {
  std::vector<Fault> faults;
  const Node with_map = script_of({input(kMap)});
  MapReader map_reader(with_map, faults, "call");
  const CallInput map = take_call_input(map_reader);
  CHECK(map.map != nullptr);
  CHECK(map.raw == nullptr);

  const Node with_text = script_of({{"raw_input", {3, 1}, kText}});
  MapReader text_reader(with_text, faults, "call");
  const CallInput text = take_call_input(text_reader);
  CHECK(text.map == nullptr);
  REQUIRE(text.raw != nullptr);
  CHECK(text.raw->text() == "{");

  const Node with_none = script_of({});
  MapReader none_reader(with_none, faults, "call");
  CHECK(take_call_input(none_reader).map == nullptr);
  CHECK(faults.empty());
}

TEST_CASE("both at once, or a map that is none, are faults with their place and a remedy") {
  std::vector<Fault> faults;
  const Node both = script_of({input(kMap), {"raw_input", {3, 1}, kText}});
  MapReader both_reader(both, faults, "call");
  const CallInput neither = take_call_input(both_reader);
  CHECK(neither.map == nullptr);
  CHECK(neither.raw == nullptr);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].mark == Mark{3, 8});

  const Node wrong = script_of({input(kText)});
  MapReader wrong_reader(wrong, faults, "call");
  CHECK(take_call_input(wrong_reader).map == nullptr);
  REQUIRE(faults.size() == 2);
  CHECK(faults[1].message.find("must be a map, found the string") != std::string::npos);
  CHECK(faults[1].remedy.find("raw_input") != std::string::npos);
}

}  // namespace
}  // namespace pawl
