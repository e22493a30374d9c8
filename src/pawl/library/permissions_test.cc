#include "pawl/runner.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "pawl/pawl.h"

namespace pawl {
namespace {

// An agent that pays once and says so; `paid` counts.
RunnableAgent paying_agent(Runner& runner, int& paid, std::vector<ScriptReply> replies = {}) {
  RunnableAgent agent;
  agent.charter.name = "payer";
  agent.charter.instructions = "Pay.";
  Script script;
  script.replies = std::move(replies);
  if (script.replies.empty()) {
    script.replies = {ScriptReply::call("pay", R"({"amount":5})"), ScriptReply::say("Done.")};
  }
  agent.executor = runner.scripted(std::move(script));
  ToolSpec spec;
  spec.name = "pay";
  spec.effect = EffectClass::once;
  agent.tools.push_back(runner.tool({spec,
                                     [&paid](const ToolInvocation&) {
                                       ++paid;
                                       return std::string("paid");
                                     },
                                     {}}));
  return agent;
}

GatePolicy asking() {
  GatePolicy policy;
  policy.approvals = {AlwaysRequireConfig{}};
  return policy;
}

struct Paid {
  Runner::Result result;
  int times = 0;
};

// The paying agent behind a gate, on a host with these ports.
Paid pay_behind(const GatePolicy& policy, Ports ports = {}) {
  Runner runner(std::move(ports));
  Paid paid;
  RunnableAgent agent = paying_agent(runner, paid.times);
  REQUIRE(runner.guard(agent, policy));
  paid.result = runner.run(agent, "go");
  return paid;
}

std::string told(const PermissionEvent& event) {
  if (const auto* request = std::get_if<PermissionRequest>(&event)) {
    return std::string(PermissionRequest::kName) + " " + request->call.tool + " " +
           request->call.input;
  }
  const auto& resolved = std::get<PermissionResolved>(event);
  return std::string(PermissionResolved::kName) + " by " + resolved.by +
         (resolved.decision == InterruptDecision::approve ? " approved" : " denied");
}

TEST_CASE("a host answers in process, and sees a request and its end") {
  std::vector<std::string> events;
  Ports ports;
  ports.permissions.events = [&](const PermissionEvent& event) { events.push_back(told(event)); };
  ports.permissions.ask = [](const PermissionRequest& request, const auto& answer) {
    CHECK(request.call.reason.size() > 0);
    answer({InterruptDecision::approve, "ann"});
    answer({InterruptDecision::reject, "late"});  // not heard
  };
  const Paid paid = pay_behind(asking(), std::move(ports));

  CHECK(paid.result.output == "Done.");
  CHECK(paid.times == 1);
  CHECK(events == std::vector<std::string>{R"(permission_request pay {"amount":5})",
                                           "permission_resolved by ann approved"});
}

TEST_CASE("what nobody answers is denied by the timeout, and a host that throws denies") {
  for (const bool throws : {false, true}) {
    std::vector<std::string> events;
    Ports ports;
    ports.permissions.timeout_ms = 20;
    ports.permissions.events = [&](const PermissionEvent& event) { events.push_back(told(event)); };
    ports.permissions.ask = [throws](const PermissionRequest&, const auto&) {
      if (throws) throw std::runtime_error("broken");
    };
    const Paid paid = pay_behind(asking(), std::move(ports));

    CHECK(paid.result.output == "Done.");
    CHECK(paid.times == 0);
    REQUIRE(events.size() == 2);
    CHECK(events[1] == (throws ? "permission_resolved by host denied"
                               : "permission_resolved by timeout denied"));
  }
}

TEST_CASE("an answer that does not fit leaves the run waiting, and ends") {
  int asked = 0;
  Ports ports;
  ports.permissions.ask = [&asked](const PermissionRequest&, const auto& answer) {
    ++asked;
    answer({InterruptDecision::input, "ann", "an answer to no question"});
  };
  const Paid paid = pay_behind(asking(), std::move(ports));

  CHECK(paid.result.status == RunStatus::waiting);
  CHECK(asked == kPermissionAsksMax);
  CHECK(paid.times == 0);
}

TEST_CASE("without anybody to ask the run waits until the host decides") {
  Runner runner;
  int paid = 0;
  RunnableAgent agent = paying_agent(runner, paid);
  REQUIRE(runner.guard(agent, asking()));
  const Runner::Result waits = runner.run(agent, "go");
  REQUIRE(waits.status == RunStatus::waiting);
  const auto pending = runner.approvals(waits.run_id);
  REQUIRE(pending);
  REQUIRE(pending->size() == 1);

  REQUIRE(runner.approve(waits.run_id, pending->front().call, "ann"));
  CHECK(runner.resume(agent, waits.run_id).output == "Done.");
  CHECK(paid == 1);
  CHECK_FALSE(runner.approve(waits.run_id, pending->front().call, "ann"));
}

TEST_CASE("hooks, rules and lists in a few lines") {
  Runner runner;
  int paid = 0;
  RunnableAgent agent = paying_agent(runner, paid);
  GatePolicy policy;
  policy.hooks = {pre_tool_use("small-sums", [](const ProposedCall& call) -> PreToolUseAnswer {
    if (call.input.find(R"("amount":5)") == std::string::npos) return {Verdict::allow, ""};
    return {Verdict::deny, "pay less than 5"};
  })};
  REQUIRE(runner.guard(agent, policy));
  CHECK(runner.run(agent, "go").output == "Done.");
  CHECK(paid == 0);

  policy.hooks = {pre_tool_use("broken", [](const ProposedCall&) -> PreToolUseAnswer {
    throw std::runtime_error("broken");
  })};
  RunnableAgent again = paying_agent(runner, paid);
  REQUIRE(runner.guard(again, policy));
  CHECK(runner.run(again, "go").output == "Done.");
  CHECK(paid == 0);

  policy.hooks = {};
  ToolRule wrong;
  wrong.id = "wrong";
  wrong.pattern.tool = std::string(10'000, '*');
  policy.rules = std::vector<ToolRule>(kToolRulesMax + 1, wrong);
  RunnableAgent bare = paying_agent(runner, paid);
  CHECK_FALSE(runner.guard(bare, policy));
  CHECK(bare.tools.empty());
}

TEST_CASE("a hook that never answers denies, and the model reads why") {
  PreToolUseHook silent;
  silent.name = "silent";
  silent.timeout_ms = 20;
  std::function<void(PreToolUseAnswer)> later;
  silent.ask = [&later](const ProposedPlan&, const auto& answer) { later = answer; };
  GatePolicy policy;
  policy.hooks = {silent};

  const Paid paid = pay_behind(policy);

  CHECK(paid.result.output == "Done.");
  CHECK(paid.times == 0);
  later({Verdict::allow, ""});  // too late to count, and nobody is there any more
}

TEST_CASE("an interrupt of the host's own kind is asked as such, and rejected or approved") {
  for (const bool approves : {false, true}) {
    std::vector<InterruptKind> kinds;
    std::vector<std::string> events;
    Ports ports;
    ports.permissions.events = [&](const PermissionEvent& event) { events.push_back(told(event)); };
    ports.permissions.ask = [&](const PermissionRequest& request, const auto& answer) {
      kinds.push_back(request.call.kind);
      CHECK(request.call.reason == "the till is open");
      answer({approves ? InterruptDecision::approve : InterruptDecision::reject, "ann", "no"});
    };
    GatePolicy policy;
    policy.hooks = {pre_tool_use("till", [](const ProposedCall&) -> PreToolUseAnswer {
      return {Verdict::ask, "the till is open", InterruptKind::custom};
    })};

    const Paid paid = pay_behind(policy, std::move(ports));

    CHECK(paid.result.output == "Done.");
    CHECK(kinds == std::vector<InterruptKind>{InterruptKind::custom});
    CHECK(paid.times == (approves ? 1 : 0));
    REQUIRE(events.size() == 2);
  }
}

TEST_CASE("a processor of the host's blocks input before any model is asked") {
  Runner runner;
  int paid = 0;
  RunnableAgent agent = paying_agent(runner, paid);
  ProcessorEntry entry;
  entry.processor = make_pii(OnFinding::block, {PiiKind::email});
  REQUIRE(use_processors(agent, {entry}, {}));

  const Runner::Result result = runner.run(agent, "mail a@b.example");

  CHECK(result.status != RunStatus::done);
  CHECK(result.steps == 0);
  CHECK(paid == 0);
}

}  // namespace
}  // namespace pawl
