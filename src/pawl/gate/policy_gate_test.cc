#include "pawl/gate/call_gate.h"
#include "pawl/permissions.h"

#include <doctest/doctest.h>

#include "tests/support/test_loop.h"

namespace pawl {
namespace {

class FixedTool final : public Tool {
 public:
  struct Running final : Operation {
    void abort() override {}
  };
  FixedTool(Loop& loop, ToolOutcome outcome) : loop_(loop), outcome_(std::move(outcome)) {}
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    input = invocation.input;
    loop_.post([done, outcome = outcome_] { done(outcome); });
    return std::make_unique<Running>();
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }
  std::string input;

 private:
  Loop& loop_;
  ToolOutcome outcome_;
  ToolSpec spec_;
};

struct Bench {
  TestLoop loop;
  GatePolicy policy;
  std::map<std::string, GatedTool> tools;

  Bench() {
    tools["view"].traits = {"view", TrustLevel::medium, {Permission::fs_read}};
    tools["pay"].traits = {"pay", TrustLevel::medium, {Permission::network}};
    tools["pay"].risk = Risk::high;
    tools["ask_user"].asks = GatedTool::Asks::a_person;
  }
  std::shared_ptr<CallGate> gate() {
    auto made = make_policy_gate(policy, tools, loop);
    REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
    return *made;
  }
  static ProposedPlan plan(std::vector<ProposedCall> calls) {
    ProposedPlan made;
    made.run = RunId{"r"};
    made.calls = std::move(calls);
    return made;
  }
  CallJudgement judge(const std::string& tool, const std::string& input = "{}") {
    return gate()->judge(plan({{tool, input}})).front();
  }
  CallJudgement ask(const std::string& tool, std::int64_t wait_ms = 10,
                    std::vector<ProposedCall> reply = {}) {
    std::optional<CallJudgement> said;
    ProposedPlan one = plan({{tool, "{}"}});
    one.reply = std::move(reply);
    const auto asking = gate()->ask(one, [&](CallJudgement judgement) { said = judgement; });
    CHECK(!said);
    loop.advance(wait_ms);
    REQUIRE(said);
    return *said;
  }
  void hook(std::function<void(const ProposedPlan&, std::function<void(PreToolUseAnswer)>)> ask) {
    policy.hooks.push_back({"h", std::move(ask), 1'000});
  }
};

TEST_CASE("no list allows every tool, an empty one none, and the reason lists the others") {
  Bench bench;
  CHECK(bench.judge("pay").verdict == CallVerdict::allow);
  bench.policy.allow = std::vector<std::string>{};
  CHECK(bench.judge("view").verdict == CallVerdict::deny);
  bench.policy.allow = std::vector<std::string>{"v*"};
  CHECK(bench.judge("view").verdict == CallVerdict::allow);
  const CallJudgement denied = bench.judge("pay");
  CHECK(denied.stage == GateStage::allow_list);
  CHECK(denied.reason.find("view") != std::string::npos);
}

TEST_CASE("a tool without its permission bit is denied even when it is allowed by name") {
  Bench bench;
  bench.policy.allow = std::vector<std::string>{"pay", "view"};
  bench.policy.grants = Grants{{Permission::fs_read}};
  CHECK(bench.judge("view").verdict == CallVerdict::allow);
  const CallJudgement denied = bench.judge("pay");
  CHECK(denied.verdict == CallVerdict::deny);
  CHECK(denied.stage == GateStage::trust);
  CHECK(denied.reason.find("network") != std::string::npos);
}

TEST_CASE("deny beats ask beats allow, whichever stage says it") {
  Bench bench;
  bench.policy.rules = {{"ask-pay", {"pay"}, {}, Verdict::ask, "money"}};
  bench.policy.approvals = {AlwaysApproveConfig{}};
  CallJudgement said = bench.judge("pay");
  CHECK(said.verdict == CallVerdict::ask);
  CHECK(said.rule == "ask-pay");
  CHECK(said.binding.has_value());
  bench.policy.rules.push_back({"never", {"pay"}, {}, Verdict::deny, "never"});
  bench.policy.approvals = {AlwaysRequireConfig{}};
  said = bench.judge("pay");
  CHECK(said.verdict == CallVerdict::deny);
  CHECK(said.rule == "never");
  CHECK(bench.judge("view").stage == GateStage::approval_policy);
}

TEST_CASE("the approval policy sees the calls of a reply as one plan") {
  Bench bench;
  ThresholdConfig threshold;
  threshold.steps = 1;
  bench.policy.approvals = {threshold};
  CHECK(bench.judge("view").verdict == CallVerdict::allow);
  const auto both = bench.gate()->judge(Bench::plan({{"view", "{}"}, {"view", "{}"}}));
  CHECK(both[0].verdict == CallVerdict::ask);
  CHECK(both[1].verdict == CallVerdict::ask);
  // Also where a hook is asked about each of them.
  bench.hook([](const ProposedPlan&, const auto& answer) { answer({Verdict::allow, ""}); });
  CHECK(bench.ask("view", 10, {{"view", "{}"}, {"view", "{}"}}).verdict == CallVerdict::ask);
  CHECK(bench.ask("view", 10, {{"view", "{}"}}).verdict == CallVerdict::allow);
}

TEST_CASE("a threshold of cost counts what the run has spent, and what its calls cost") {
  Bench bench;
  ThresholdConfig threshold;
  threshold.cost_pico = 100;
  bench.policy.approvals = {threshold};
  ProposedPlan plan = Bench::plan({{"view", "{}"}});
  plan.tally.cost_pico = 100;
  CHECK(bench.gate()->judge(plan).front().verdict == CallVerdict::allow);
  plan.tally.cost_pico = 101;
  CHECK(bench.gate()->judge(plan).front().verdict == CallVerdict::ask);
  plan.tally.cost_pico = 60;
  bench.tools["view"].cost_pico = 41;
  CHECK(bench.gate()->judge(plan).front().verdict == CallVerdict::ask);
}

TEST_CASE("what an approval is for changes with bytes, definition, policy and circumstances") {
  Bench bench;
  const ProposedCall call{"pay", R"({"n":1})"};
  const Digest first = bench.gate()->binding_of(call);
  CHECK(bench.gate()->binding_of(call) == first);
  CHECK(bench.gate()->binding_of({"pay", R"({"n":2})"}) != first);
  Bench other_tool;
  other_tool.tools["pay"].definition = sha256("changed");
  CHECK(other_tool.gate()->binding_of(call) != first);
  Bench other_policy;
  other_policy.policy.rules = {{"x", {"view"}, {}, Verdict::deny, ""}};
  CHECK(other_policy.gate()->binding_of(call) != first);
  Bench elsewhere;
  elsewhere.policy.circumstances = [](const ProposedCall&) { return "another directory"; };
  CHECK(elsewhere.gate()->binding_of(call) != first);
}

TEST_CASE("hooks are asked, and one that throws or is late denies") {
  Bench allows;
  allows.hook([](const ProposedPlan&, const auto& answer) { answer({Verdict::allow, ""}); });
  CHECK(allows.judge("pay").verdict == CallVerdict::undecided);
  CHECK(allows.ask("pay").verdict == CallVerdict::allow);

  Bench throws;
  throws.hook([](const ProposedPlan&, const auto&) { throw std::runtime_error("broken"); });
  CHECK(throws.ask("pay").reason == "the hook h failed: broken");

  Bench late;
  late.hook([](const ProposedPlan&, const auto&) {});
  CHECK(late.ask("pay", 1'001).reason == "the hook h has not answered");

  Bench custom;
  custom.hook([](const ProposedPlan&, const auto& answer) {
    answer({Verdict::ask, "sign here", InterruptKind::custom});
  });
  const CallJudgement asked = custom.ask("pay");
  CHECK(asked.verdict == CallVerdict::ask);
  CHECK(asked.kind == InterruptKind::custom);
  CHECK(asked.stage == GateStage::hook);
}

TEST_CASE("the script of a rule decides, and one that is missing, fails or mumbles denies") {
  const auto with = [](std::shared_ptr<Tool> program, Bench& bench) {
    bench.policy.rules = {{"checked", {"pay"}, {}, Verdict::allow, "", "./check.sh"}};
    bench.policy.scripts = [program](const std::string&) { return program; };
    return bench.ask("pay");
  };
  const auto prints = [](Bench& bench, const std::string& text, ToolOutcome::Kind kind) {
    return std::make_shared<FixedTool>(bench.loop, ToolOutcome{kind, text, text.size(), {}, {}});
  };
  Bench bench;
  const auto good = prints(bench, "allow\n", ToolOutcome::Kind::succeeded);
  CHECK(with(good, bench).verdict == CallVerdict::allow);
  CHECK(good->input == R"({"tool":"pay","input":"{}","run":"r","phase":""})");
  Bench asks;
  const CallJudgement asked =
      with(prints(asks, "ask over the limit", ToolOutcome::Kind::succeeded), asks);
  CHECK(asked.verdict == CallVerdict::ask);
  CHECK(asked.reason == "over the limit");
  Bench fails;
  CHECK(with(prints(fails, "boom", ToolOutcome::Kind::failed), fails).verdict == CallVerdict::deny);
  Bench mumbles;
  CHECK(with(prints(mumbles, "maybe", ToolOutcome::Kind::succeeded), mumbles).verdict ==
        CallVerdict::deny);
  Bench missing;
  CHECK(with(nullptr, missing).verdict == CallVerdict::deny);
}

TEST_CASE("a question to the user is put to a person, whatever the policy") {
  Bench bench;
  const CallJudgement said = bench.judge("ask_user", R"({"question":"which?"})");
  CHECK(said.verdict == CallVerdict::ask);
  CHECK(said.kind == InterruptKind::input);
  bench.policy.allow = std::vector<std::string>{"view"};
  CHECK(bench.judge("ask_user").verdict == CallVerdict::deny);
}

TEST_CASE("each policy around a charter must allow the call, too") {
  Bench bench;
  bench.policy.allow = std::vector<std::string>{"*"};
  bench.policy.outer = {{std::vector<std::string>{"view"}, std::nullopt}};
  CHECK(bench.judge("view").verdict == CallVerdict::allow);
  CHECK(bench.judge("pay").stage == GateStage::allow_list);
  bench.policy.outer = {{std::nullopt, Grants{PermissionBits{Permission::network}}}};
  CHECK(bench.judge("pay").verdict == CallVerdict::allow);
  CHECK(bench.judge("view").rule == "trust.fs_read");
}

TEST_CASE("the stage execute names the agents that may call a tool") {
  Bench bench;
  bench.policy.agent = "helper";
  bench.policy.execute["pay"] = {"cashier", "bank-*"};
  const CallJudgement denied = bench.judge("pay");
  CHECK(denied.verdict == CallVerdict::deny);
  CHECK(denied.rule == "stage.execute");
  CHECK(denied.reason.find("agents that may: cashier, bank-*") != std::string::npos);
  CHECK(bench.judge("view").verdict == CallVerdict::allow);
  bench.policy.agent = "bank-2";
  CHECK(bench.judge("pay").verdict == CallVerdict::allow);
}

TEST_CASE("sc-X31 an approval for always is for these bytes, and never beats a deny") {
  Bench bench;
  ToolRule rule;
  rule.id = "asked";
  rule.pattern.tool = "pay";
  bench.policy.rules = {rule};
  const auto asked = bench.judge("pay", R"({"n":1})");
  REQUIRE(asked.verdict == CallVerdict::ask);
  bench.policy.remembered = [known = *asked.binding](const Digest& one) { return one == known; };

  const auto allowed = bench.judge("pay", R"({"n":1})");
  CHECK(allowed.verdict == CallVerdict::allow);
  CHECK(allowed.stage == GateStage::rule);
  CHECK(allowed.rule == kRememberedRule);
  for (const char* other : {R"({"n":2})", R"({"n":1} )", R"({"n": 1})", "{}"}) {
    CHECK(bench.judge("pay", other).verdict == CallVerdict::ask);
  }
  // In other circumstances, and under another policy.
  bench.policy.circumstances = [](const ProposedCall&) { return "elsewhere"; };
  CHECK(bench.judge("pay", R"({"n":1})").verdict == CallVerdict::ask);
  bench.policy.circumstances = {};
  bench.policy.rules.front().verdict = Verdict::deny;
  CHECK(bench.judge("pay", R"({"n":1})").verdict == CallVerdict::deny);
}

TEST_CASE("what asks every time is asked, whatever is remembered") {
  Bench bench;
  bench.policy.remembered = [](const Digest&) { return true; };
  ToolRule rule;
  rule.id = "asked";
  rule.pattern.tool = "*";
  bench.policy.rules = {rule};
  CHECK(bench.judge("pay").verdict == CallVerdict::allow);
  CHECK(bench.judge("ask_user").verdict == CallVerdict::ask);

  bench.policy.rules.front().verdict = Verdict::deny;
  CHECK(bench.judge("pay").verdict == CallVerdict::deny);
  bench.policy.rules.front().verdict = Verdict::ask;

  bench.policy.approvals = {AlwaysRequireConfig{}};
  CHECK(bench.judge("pay").verdict == CallVerdict::ask);
  CHECK(bench.judge("pay").stage == GateStage::approval_policy);
  bench.policy.approvals = {AlwaysApproveConfig{}};

  bench.tools["pay"].traits.trust = TrustLevel::untrusted;
  CHECK(bench.judge("pay").stage == GateStage::trust);
  bench.hook([](const ProposedPlan&, const std::function<void(PreToolUseAnswer)>& answer) {
    answer({Verdict::ask, "the host asks"});
  });
  CHECK(bench.ask("view").verdict == CallVerdict::ask);
}

}  // namespace
}  // namespace pawl
