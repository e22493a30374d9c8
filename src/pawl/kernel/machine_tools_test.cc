#include "pawl/kernel/machine_tools.h"

#include "pawl/base/schema.h"
#include "pawl/kernel/machine_stage_test.h"

namespace pawl::testing {
namespace {

Names offered(const TestRun& run, InstanceId id = kRootInstance) {
  Names names;
  for (const ToolSpec& tool : machine_tools(run.state(), run.instance(id))) {
    names.push_back(tool.name);
  }
  return names;
}

TEST_CASE("an instance is offered what its node allows, and only children may cede") {
  RunStarted start = a_family();
  next_of(start, "main", "go", "talker");
  next_of(start, "main", "over", "talker").when = NextWhen::end_turn;
  node_in(start, "main").workers.push_back(a_child("early", "watch"));
  node_in(start, "main").workers.back().start = ChildStart::with_node;
  node_in(start, "watch").state = a_state("", "{}");
  TestRun run(start);
  CHECK(offered(run) == Names{"transition_go", "spawn_watcher", "spawn_talk", "suspend"});
  CHECK(offered(run, kI2) == Names{"update_state", "cede", "suspend"});
}

TEST_CASE("a run without nodes is offered none") {
  const TestRun run;
  CHECK(offered(run).empty());
}

TEST_CASE("the arguments of each tool have a schema that compiles") {
  RunStarted start = a_family();
  next_of(start, "main", "go", "talker");
  node_in(start, "talker").state = a_state(R"({"type":"object","required":["a"]})");
  start.packs = {PackSpec{"notes", {}, a_state("", "{}")}};
  node_in(start, "main").packs = {"notes"};
  const TestRun run(start);
  for (const ToolSpec& tool : machine_tools(run.state(), run.instance())) {
    const auto schema = Schema::compile(parse_json(tool.input_schema).value());
    REQUIRE_MESSAGE(schema, tool.name);
    if (tool.name != "transition_go") continue;
    CHECK(!schema->validate(parse_json("{}").value()).empty());
    CHECK(schema->validate(parse_json(R"({"state":{"a":1}})").value()).empty());
  }
}

}  // namespace
}  // namespace pawl::testing
