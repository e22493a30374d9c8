#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

using Names = std::vector<std::string>;

TEST_CASE("tools of Pawl's own that a node names are that node's") {
  const Charter charter = good_charter(release_charter());
  CHECK(charter.common_tools == Names{"bash", "view"});
  CHECK(node_of(charter, "fix").spec.tools == Names{"note"});
  const Charter none =
      good_charter(nodes_with("  a: { instructions: x, next: { b: b } }\n"
                              "  b: { instructions: x }\n"));
  CHECK_FALSE(node_of(none, "a").spec.tools);
  const Charter allowed =
      good_charter("tools: { allow: [view, bash], ask: [\"str_*\"] }\n" +
                   nodes_with("  a: { instructions: x, next: { b: b }, tools: [\"v*\"] }\n"
                              "  b: { instructions: x, tools: [view] }\n"));
  CHECK(node_of(allowed, "a").spec.tools == Names{"view"});
  CHECK(charter_faults("tools: { allow: [view] }\n" +
                       nodes_with("  a: { instructions: x, tools: [bash] }\n")) ==
        "f:6:33: nodes.a: the tool \"bash\" is not in tools.allow\n");
}

TEST_CASE("reserved names of tools are refused wherever a tool is defined") {
  for (const std::string name : {"update_state", "transition_x", "spawn_x", "cede", "suspend",
                                 "agent__x", "run_subagent", "work_item_add", "discover_step"}) {
    CAPTURE(name);
    const std::string define = "define: { " + name + ": { command: [x] } }";
    const std::string wanted = "is a name that only tools of Pawl's own have";
    CHECK(charter_faults(charter_with("tools: { " + define + " }")).find(wanted) !=
          std::string::npos);
    CHECK(charter_faults(nodes_with("  a: { instructions: x, " + define + " }")).find(wanted) !=
          std::string::npos);
    CHECK(charter_faults(
              nodes_with("  a: { instructions: x, packs: [p] }\npacks: { p: { " + define + " } }"))
              .find(wanted) != std::string::npos);
  }
}

TEST_CASE("a tool of the charter's with the name of Pawl's is told of") {
  const Charter charter =
      good_charter(charter_with("tools: { define: { bash: { command: [x] } } }"));
  REQUIRE(charter.machine.notes.size() == 1);
  CHECK(charter.machine.notes[0].message == "the tool \"bash\" replaces Pawl's own");
  CHECK(charter.machine.notes[0].mark == Mark{4, 20, 0});
}

TEST_CASE("two packs of a node may not define one name") {
  CHECK(
      charter_faults(nodes_with("  a: { instructions: x, packs: [p, q] }\n"
                                "packs:\n"
                                "  p: { define: { t: { command: [x] } } }\n"
                                "  q: { define: { t: { command: [x] } } }\n")) ==
      "f:5:32: nodes.a: the packs \"p\" and \"q\" both define the tool \"t\" (rename one of them, "
      "or list one of the packs)\n");
}

}  // namespace
}  // namespace pawl
