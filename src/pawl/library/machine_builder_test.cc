#include "pawl/machine.h"

#include <doctest/doctest.h>

#include "pawl/journal/run_loader.h"
#include "pawl/pawl.h"

namespace pawl {
namespace {

constexpr const char* kStock =
    R"({"type":"object","required":["stock"],"properties":{"stock":{"type":"integer"}}})";

// The new stock is a function of the old one and of what has come.
CommandActions restock(const Json& state, const Json& input) {
  const std::int64_t before = state.find("stock")->as_int64().value_or(0);
  const std::int64_t come = input.find("amount")->as_int64().value_or(0);
  JsonObject patch;
  patch.set("stock", Json(before + come));
  CommandActions actions;
  actions.patch(Json(std::move(patch))).message("Goods have come.");
  return actions;
}

std::shared_ptr<Executor> says(Runner& runner, std::vector<ScriptReply> replies) {
  Script script;
  script.replies = std::move(replies);
  return runner.scripted(std::move(script));
}

MachineBuilder a_shop(Runner& runner) {
  MachineBuilder shop("shop");
  shop.node("open")
      .instructions("Take orders.")
      .executor(says(runner, {ScriptReply::call("suspend", R"({"reason":"the shop decides"})"),
                              ScriptReply::call("transition_close")}))
      .state(kStock, R"({"stock":10})")
      .next("close", "closed", "The shop closes.")
      .command("restock", restock, R"({"type":"object","required":["amount"]})", "Goods have come.")
      .command("reopen", [](const Json&, const Json&) { return CommandActions().resume(); })
      .command("fail", [](const Json&, const Json&) -> CommandActions { throw 7; });
  shop.node("closed")
      .instructions("Say goodbye.")
      .executor(says(runner, {ScriptReply::say("Goodbye.")}));
  return shop;
}

RunnableAgent built(const MachineBuilder& machine) {
  auto agent = machine.build();
  REQUIRE_MESSAGE(agent, agent.error().message);
  return *std::move(agent);
}

const Instance& root_of(const LoadedRun& run) {
  return *find_instance(run.run.state(), kRootInstance);
}

LoadedRun loaded(Runner& runner, const RunId& run) {
  auto found = load_run(*runner.store().reader, run, UseSnapshot::yes);
  REQUIRE(found);
  return *std::move(found);
}

TEST_CASE("a machine that was built in C++ runs, and its commands are functions of the host's") {
  Runner runner;
  const RunnableAgent agent = built(a_shop(runner));
  const Runner::Result waiting = runner.run(agent, "go");
  CHECK(waiting.status == RunStatus::waiting);

  REQUIRE(runner.command(waiting.run_id, "restock", R"({"amount":3})"));
  CHECK(root_of(loaded(runner, waiting.run_id)).state == R"({"stock":13})");
  REQUIRE(runner.command(waiting.run_id, "reopen"));
  const Runner::Result done = runner.resume(agent, waiting.run_id);

  CHECK(done.status == RunStatus::done);
  CHECK(done.output == "Goodbye.");
  const LoadedRun after = loaded(runner, waiting.run_id);
  CHECK(root_of(after).node == "closed");
}

TEST_CASE("a command that is refused says why and changes nothing") {
  Runner runner;
  const RunnableAgent agent = built(a_shop(runner));
  const RunId run = runner.run(agent, "go").run_id;
  const auto refusal = [&](const std::string& name, const std::string& input) {
    const Status said = runner.command(run, name, input);
    return said ? std::string() : said.error().message;
  };
  CHECK(refusal("restock", "{}").find("the input does not fit") != std::string::npos);
  CHECK(refusal("restock", "{").find("JSON") != std::string::npos);
  CHECK(refusal("fail", "{}").find("the function of the command fail threw") != std::string::npos);
  CHECK(refusal("nothing", "{}").find("has no command nothing") != std::string::npos);
  CHECK(root_of(loaded(runner, run)).state == R"({"stock":10})");
}

TEST_CASE("a run whose function is not there is refused by name") {
  Runner runner;
  RunnableAgent agent = built(a_shop(runner));
  const RunId run = runner.run(agent, "go").run_id;
  agent.commands.clear();
  CHECK(runner.run(agent, "go").error.find("the command restock of the node open") !=
        std::string::npos);
  CHECK(runner.resume(agent, run).error.find("of the node open") != std::string::npos);
}

TEST_CASE("a machine with a flow has no node to start in") {
  Runner runner;
  MachineBuilder list("list");
  list.node("sum").instructions("Sum up.").executor(says(runner, {ScriptReply::say("Summed.")}));
  list.set("flow", *parse_json(R"({"phases":[{"name":"sum","node":"sum"}]})"));
  const Runner::Result done = runner.run(built(list), "go");
  CHECK(done.status == RunStatus::done);
  CHECK(done.output == "Summed.");
}

TEST_CASE("what does not fit is refused in the words of a charter's faults") {
  Runner runner;
  MachineBuilder machine = a_shop(runner);
  machine.node("open").next("away", "nowhere");
  const auto agent = machine.build();
  REQUIRE(!agent);
  CHECK(agent.error().message.find("nowhere") != std::string::npos);

  MachineBuilder broken("broken");
  broken.node("a").executor(says(runner, {})).state("{", "");
  REQUIRE(!broken.build());
  CHECK(broken.build().error().message.find("nodes.a: \"schema\" is no JSON") != std::string::npos);
  CHECK(MachineBuilder("empty").build().error().message == "the machine empty has no node");
  MachineBuilder silent("silent");
  silent.node("a").instructions("x");
  CHECK(silent.build().error().message == "nodes.a: it has no executor");
}

TEST_CASE("workers, children and steps of every yield reason are seen by a host that iterates") {
  Runner runner;
  MachineBuilder machine("all");
  machine.node("lead")
      .instructions("Lead.")
      .executor(says(
          runner, {ScriptReply::call("spawn_watcher", R"({"input":"look"})"),
                   ScriptReply::say("waiting"), ScriptReply::say("seen"), ScriptReply::say("all")}))
      .starts("watcher", "watch");
  machine.node("watch").instructions("Watch.").worker().executor(
      says(runner, {ScriptReply::call("cede", R"({"content":{"seen":1}})")}));
  std::vector<std::string> ceded;
  std::vector<YieldReason> reasons;
  auto steps = runner.steps(built(machine), "go");
  for (const MachineStep& step : steps) {
    reasons.push_back(step.yield_reason);
    if (step.cede_content) ceded.push_back(*step.cede_content);
  }
  CHECK(ceded == std::vector<std::string>{R"({"seen":1})"});
  CHECK(std::count(reasons.begin(), reasons.end(), YieldReason::cede) == 1);
  CHECK(steps.result().status == RunStatus::done);
}

TEST_CASE("a command is a step, and a suspended instance is listed with its reason") {
  Runner runner;
  const RunnableAgent agent = built(a_shop(runner));
  auto steps = runner.steps(agent, "go");
  std::optional<MachineStep> last;
  for (const MachineStep& step : steps) last = step;
  REQUIRE(last);
  CHECK(last->yield_reason == YieldReason::awaiting_resume);
  CHECK(last->done);
  REQUIRE(last->suspended_instances.size() == 1);
  CHECK(last->suspended_instances[0].reason == "the shop decides");
  CHECK(last->suspended_instances[0].suspend_id == "c1");
}

}  // namespace
}  // namespace pawl
