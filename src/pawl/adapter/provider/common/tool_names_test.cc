#include "pawl/adapter/provider/common/tool_names.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace pawl::provider {
namespace {

TEST_CASE("names that fit stay; others become names that fit and are no other's") {
  for (const char* name : {"look", "mcp__github__search", "A-1_b"}) {
    CHECK(wire_tool_name(name) == name);
  }
  CHECK(wire_tool_name("fs.read") == "fs_read_4074bc02");
  std::vector<std::string> wires;
  for (const std::string& name :
       {std::string(), std::string("../x"), std::string("a\nb"), std::string("a b"),
        std::string("a_b"), std::string("sp\xC3\xA4h"), std::string(65, 'x'), std::string(66, 'x'),
        std::string(10'000, 'n')}) {
    wires.push_back(wire_tool_name(name));
    CHECK(!wires.back().empty());
    CHECK(wires.back().size() <= kWireToolNameBytesMax);
    CHECK(wire_tool_name(wires.back()) == wires.back());
  }
  std::sort(wires.begin(), wires.end());
  CHECK(std::adjacent_find(wires.begin(), wires.end()) == wires.end());
}

TEST_CASE("the way back is that of the request's tools") {
  std::vector<ToolSpec> tools(2);
  tools[0].name = "fs.read";
  tools[1].name = "look";
  const WireToolNames names(tools);
  CHECK(names.original("fs_read_4074bc02") == "fs.read");
  CHECK(names.original("look") == "look");
  CHECK(names.original("unknown") == "unknown");
}

}  // namespace
}  // namespace pawl::provider
