#include "pawl/run/agent/agent_check.h"

#include <doctest/doctest.h>

#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

struct CheckedAgent {
  CheckedAgent() {
    agent.charter.model = "scripted";
    agent.executor = make_scripted_executor({{ScriptReply::say("Done.")}}, loop);
  }
  std::string refusal() const {
    AgentParts parts;
    const auto fault = check_agent(agent, parts);
    return fault ? fault->error.message : "";
  }
  TestLoop loop;
  PreparedAgent agent;
};

}  // namespace

TEST_CASE("an agent that a run would refuse is refused without one") {
  CheckedAgent good;
  CHECK(good.refusal().empty());

  CheckedAgent nobody;
  nobody.agent.executor = nullptr;
  CHECK(nobody.refusal() == "the agent has no executor");
  CheckedAgent schema;
  schema.agent.charter.output_schema = R"({"type":7})";
  CHECK_FALSE(schema.refusal().empty());
  CheckedAgent paid;
  paid.agent.charter.spending.cost_pico = 1;
  paid.agent.charter.spending.currency = "EUR";
  CHECK(paid.refusal().find("and the run in EUR") != std::string::npos);
  CheckedAgent subagents;
  subagents.agent.subagents = {SubagentSpec{"helper", "", "", "", {"nothing"}}};
  CHECK(subagents.refusal().find("which its parent does not have") != std::string::npos);
}

TEST_CASE("a bound on money needs prices, wherever the bound stands") {
  CheckedAgent desk;
  ResolvedTarget target;
  target.literal = "scripted";
  desk.agent.targets = {target};
  const auto fault = [&desk] {
    const Charter& charter = desk.agent.charter;
    return check_priced(desk.agent, with_budget(charter.limits, charter.spending));
  };
  CHECK_FALSE(fault());
  desk.agent.charter.spending.cost_pico = 5;
  REQUIRE(fault());
  CHECK(fault()->about == "scripted");
  desk.agent.charter.spending.unknown_price = Spending::UnknownPrice::allow;
  CHECK_FALSE(fault());
}

TEST_CASE("the bounds of a call come before those of the budget") {
  Spending spending;
  spending.cost_pico = 5;
  spending.ask_cost_pico = 3;
  Limits limits;
  limits.cost_pico = 7;
  CHECK(with_budget(limits, spending).cost_pico == 7);
  CHECK(with_budget(limits, spending).ask_cost_pico == 3);
}

}  // namespace pawl
