// Scopes of tools: rule M12 of docs/charter.md.
#include "pawl/kernel/machine_stage_test.h"
#include "pawl/kernel/machine_tools.h"

namespace pawl::testing {
namespace {

Block hands_over() {
  return calls("spawn_talk", R"({"input":"ask them"})");
}

RunStarted with_scopes() {
  RunStarted start = a_family();
  const auto tool = [](std::string name, ToolScope scope, std::string owner) {
    PinnedTool one = all_tools().front();
    one.name = std::move(name);
    one.scope = scope;
    one.owner = std::move(owner);
    one.definition = sha256(one.owner);
    return one;
  };
  start.tools = {tool("note", ToolScope::pack, "notes"), tool("note", ToolScope::node, "main"),
                 tool("page", ToolScope::charter, ""), tool("own", ToolScope::node, "talker"),
                 tool("log", ToolScope::pack, "notes")};
  start.packs = {PackSpec{"notes", {"page"}, a_state("", "{}")}};
  node_in(start, "talker").packs = {"notes"};
  node_in(start, "watch").packs = {"notes"};
  return start;
}

std::string owner_of(const TestRun& run, InstanceId id, std::string_view tool) {
  const PinnedTool* found = tool_in_scope(run.state(), run.instance(id), tool);
  return found == nullptr ? "none" : std::string(name(found->scope)) + " " + found->owner;
}

TEST_CASE("the nearest definition of a tool wins: node, ancestors, charter, packs") {
  TestRun run(with_scopes());
  run.replies({hands_over()});
  CHECK(owner_of(run, kRootInstance, "note") == "node main");
  CHECK(owner_of(run, kI2, "note") == "node main");  // its parent's node
  CHECK(owner_of(run, kI2, "own") == "node talker");
  CHECK(owner_of(run, kRootInstance, "own") == "none");
  CHECK(owner_of(run, kI2, "log") == "pack notes");
}

TEST_CASE("a tool of the charter's that a pack names is in scope only where the pack is") {
  TestRun run(with_scopes());
  run.replies({hands_over()});
  CHECK(owner_of(run, kRootInstance, "page") == "none");
  CHECK(owner_of(run, kI2, "page") == "charter ");
}

TEST_CASE("workers see neither tools nor state of packs") {
  TestRun run(with_scopes());
  run.replies({spawns_watcher()});
  CHECK(owner_of(run, kI2, "log") == "none");
  CHECK(shown_state(run.state(), run.instance(kI2)).empty());
  run.replies_as(kI2, {calls("log")});
  CHECK(run.decided<CallRefused>().at(0).because == RefusedBecause::unknown_tool);
}

TEST_CASE("a node's list of tools leaves out the others") {
  RunStarted start = a_family();
  node_in(start, "main").tools = {"pure"};
  TestRun run(start);
  run.replies({calls("once"), calls("pure")});
  CHECK(run.decided<CallRefused>().size() == 1);
  CHECK(run.call_is<CallRunning>(kC2));
}

}  // namespace
}  // namespace pawl::testing
