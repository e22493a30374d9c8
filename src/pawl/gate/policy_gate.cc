#include <algorithm>

#include "pawl/gate/approvals/approval_policy.h"
#include "pawl/gate/call_gate.h"
#include "pawl/gate/gate_questions.h"
#include "pawl/gate/policy_text.h"
#include "pawl/gate/rules/rules.h"
#include "pawl/gate/rules/trust.h"
#include "pawl/gate/shell/shell_rules.h"
#include "pawl/json.h"
#include "pawl/permissions.h"

namespace pawl {
namespace {

// What the stages passed so far say.
struct Found {
  Judgement judgement;
  GateStage stage = GateStage::none;

  // Of two that ask, the one that asks every time is named: the other's answer would not do.
  void add(GateStage from, const Judgement& more) {
    const bool lasts = more.verdict == Verdict::ask && judgement.verdict == Verdict::ask &&
                       more.asking > judgement.asking;
    if (more.verdict <= judgement.verdict && !lasts) return;
    judgement = more;
    stage = from;
  }
  bool denied() const { return judgement.verdict == Verdict::deny; }
};

class PolicyGate final : public CallGate, public std::enable_shared_from_this<PolicyGate> {
 public:
  PolicyGate(GatePolicy policy, RuleSet rules, std::shared_ptr<const ApprovalPolicy> approvals,
             std::map<std::string, GatedTool> tools, Loop& loop)
      : policy_(std::move(policy)),
        rules_(std::move(rules)),
        approvals_(std::move(approvals)),
        tools_(std::move(tools)),
        loop_(loop),
        version_(policy_digest(policy_, rules_)) {
    for (const auto& [key, tool] : tools_)
      known_.push_back(tool.traits.name.empty() ? key : tool.traits.name);
  }

  std::vector<CallJudgement> judge(const ProposedPlan& plan) override;
  std::unique_ptr<Operation> ask(const ProposedPlan& plan,
                                 std::function<void(CallJudgement)> done) override;
  Digest binding_of(const ProposedCall& call) override;

 private:
  const GatedTool* find(const std::string& name) const {
    const auto found = tools_.find(name);
    return found == tools_.end() ? nullptr : &found->second;
  }
  Found before_questions(const ProposedPlan& plan, const ProposedCall& call,
                         std::vector<PendingScript>& scripts) const;
  Judgement listed(const std::string& tool) const;
  Judgement trust_of(const GatedTool& tool, const ProposedCall& call) const;
  std::optional<std::string> wanted_by_policy(const ProposedPlan& plan) const;
  CallJudgement finished(const ProposedCall& call, Found found, InterruptKind kind);
  CallJudgement finished(const ProposedPlan& plan, const ProposedCall& call, Found found,
                         InterruptKind kind, const std::optional<std::string>& wanted);

  GatePolicy policy_;
  RuleSet rules_;
  std::shared_ptr<const ApprovalPolicy> approvals_;
  std::map<std::string, GatedTool> tools_;
  std::vector<std::string> known_;
  Loop& loop_;
  Digest version_;
};

// The lists of tools, the charter's and those around it, and who may call the tool at all.
Judgement PolicyGate::listed(const std::string& tool) const {
  Judgement all = check_allow_list(tool, policy_.allow, known_);
  for (const OuterLimits& limits : policy_.outer) {
    all = stricter(std::move(all), check_allow_list(tool, limits.allow, known_));
  }
  const auto names = policy_.execute.find(tool);
  if (names == policy_.execute.end()) return all;
  ToolRequirements requirements;
  requirements.execute_names = names->second;
  StageSubject subject;
  subject.agent = policy_.agent;
  return stricter(std::move(all),
                  check_stage(PermissionStage::execute, tool, requirements, subject));
}

// Without what a call touches where nobody can say: then the bits decide alone.
Judgement PolicyGate::trust_of(const GatedTool& tool, const ProposedCall& call) const {
  ToolTraits traits = tool.traits;
  if (tool.touches) {
    auto touched = tool.touches(call.input);
    if (!touched) return {Verdict::deny, "touches", touched.error().message};
    traits.domains = std::move(touched->domains);
    traits.paths = std::move(touched->paths);
  }
  const Grants everything{PermissionBits::all()};
  Judgement all = check_trust(traits, policy_.grants.value_or(everything));
  for (const OuterLimits& limits : policy_.outer) {
    all = stricter(std::move(all), check_trust(traits, limits.grants.value_or(everything)));
  }
  return all;
}

Found PolicyGate::before_questions(const ProposedPlan& plan, const ProposedCall& call,
                                   std::vector<PendingScript>& scripts) const {
  Found found;
  const GatedTool* tool = find(call.key());
  if (tool == nullptr) {
    found.add(GateStage::allow_list, {Verdict::deny, "unknown", "no tool " + call.tool});
    return found;
  }
  found.add(GateStage::allow_list, listed(call.tool));
  if (!found.denied()) found.add(GateStage::trust, trust_of(*tool, call));
  if (found.denied()) return found;
  const ScriptLookup exists = [this](const std::string& script) {
    return policy_.scripts && policy_.scripts(script) != nullptr;
  };
  RuleOutcome outcome = rules_.judge({call.tool, call.input, plan.node}, exists);
  if (outcome.judgement) found.add(GateStage::rule, *outcome.judgement);
  if (policy_.shell && tool->shell) {
    found.add(GateStage::shell, tool->shell(call.input, *policy_.shell));
  }
  scripts = std::move(outcome.needs_script);
  return found;
}

std::optional<std::string> PolicyGate::wanted_by_policy(const ProposedPlan& plan) const {
  Plan steps;
  for (const ProposedCall& call : plan.calls) {
    ProposedStep step{call.tool, call.input};
    if (const GatedTool* tool = find(call.key())) {
      step.risk = tool->risk;
      step.cost_pico = tool->cost_pico;
    }
    steps.steps.push_back(std::move(step));
  }
  // What the run has spent so far is a part of what carrying on costs.
  if (!steps.steps.empty()) {
    std::uint64_t& cost = steps.steps.front().cost_pico;
    cost = add_saturating(cost, plan.tally.cost_pico);
  }
  return approvals_->approval_reason(steps);
}

CallJudgement PolicyGate::finished(const ProposedPlan& plan, const ProposedCall& call, Found found,
                                   InterruptKind kind, const std::optional<std::string>& wanted) {
  if (wanted) {
    // Of a plan of several steps those are asked about that the policy wants by themselves; where
    // it is the plan as a whole, every one.
    const ProposedPlan alone{plan.run, plan.instance, {call}, plan.tally, plan.node, {}};
    const auto own = plan.calls.size() > 1 ? wanted_by_policy(alone) : wanted;
    found.add(GateStage::approval_policy, {Verdict::ask, std::string(approvals_->name()),
                                           own.value_or(*wanted), Asking::every_time});
  }
  return finished(call, std::move(found), kind);
}

CallJudgement PolicyGate::finished(const ProposedCall& call, Found found, InterruptKind kind) {
  CallJudgement judgement;
  const GatedTool* tool = find(call.key());
  const bool question = tool != nullptr && tool->asks == GatedTool::Asks::a_person;
  if (question && !found.denied()) {
    judgement.kind = InterruptKind::input;
    found.judgement = {Verdict::ask, "ask_user", "the model asks a question"};
  } else {
    judgement.kind = kind;
  }
  judgement.stage = found.stage;
  if (found.judgement.verdict == Verdict::ask) {
    judgement.binding = binding_of(call);
    judgement.expires_ms = policy_.expires_ms;
    const bool may_be = !question && kind == InterruptKind::approval &&
                        found.judgement.asking == Asking::may_be_remembered;
    if (may_be && policy_.remembered && policy_.remembered(*judgement.binding)) {
      judgement = CallJudgement::allowed();
      judgement.stage = found.stage;
      judgement.rule = kRememberedRule;
      return judgement;
    }
  }
  judgement.rule = std::move(found.judgement.rule);
  judgement.reason = std::move(found.judgement.reason);
  switch (found.judgement.verdict) {
    case Verdict::allow:
      judgement.verdict = CallVerdict::allow;
      judgement.reason.clear();
      break;
    case Verdict::ask:
      judgement.verdict = CallVerdict::ask;
      break;
    case Verdict::deny:
      judgement.verdict = CallVerdict::deny;
      break;
  }
  return judgement;
}

std::vector<CallJudgement> PolicyGate::judge(const ProposedPlan& plan) {
  const auto wanted = wanted_by_policy(plan);
  std::vector<CallJudgement> judgements;
  for (const ProposedCall& call : plan.calls) {
    std::vector<PendingScript> scripts;
    Found found = before_questions(plan, call, scripts);
    const bool questions = !scripts.empty() || !policy_.hooks.empty();
    if (questions && !found.denied()) {
      judgements.emplace_back();  // undecided
      continue;
    }
    judgements.push_back(finished(plan, call, std::move(found), InterruptKind::approval, wanted));
  }
  return judgements;
}

std::unique_ptr<Operation> PolicyGate::ask(const ProposedPlan& plan,
                                           std::function<void(CallJudgement)> done) {
  PAWL_ASSERT(plan.calls.size() == 1);
  std::vector<PendingScript> scripts;
  const Found found = before_questions(plan, plan.calls.front(), scripts);
  QuestionList list{plan, {}, policy_.hooks};
  for (const PendingScript& pending : scripts) {
    list.scripts.push_back({pending, policy_.scripts ? policy_.scripts(pending.script) : nullptr});
  }
  if (found.denied()) list = {plan, {}, {}};
  return ask_questions(
      std::move(list), loop_,
      [self = shared_from_this(), plan, found,
       done = std::move(done)](const QuestionsAnswer& said) {
        Found all = found;
        Judgement said_now = said.judgement;
        // A hook knows more than the call's bytes: what it asks once it asks always.
        if (said.stage == GateStage::hook) said_now.asking = Asking::every_time;
        all.add(said.stage, said_now);
        // The policy judges the reply as a whole, whoever was asked about its parts.
        ProposedPlan whole = plan;
        if (!plan.reply.empty()) whole.calls = plan.reply;
        const auto wanted = self->wanted_by_policy(whole);
        done(self->finished(whole, plan.calls.front(), std::move(all), said.kind, wanted));
      });
}

Digest PolicyGate::binding_of(const ProposedCall& call) {
  const GatedTool* tool = find(call.key());
  JsonWriter out;
  out.begin_object();
  out.field("tool", call.tool);
  out.field("definition", tool == nullptr ? std::string() : to_hex(tool->definition));
  out.field("input", to_hex(sha256(call.input)));
  out.field("policy", to_hex(version_));
  out.field("circumstances", policy_.circumstances ? policy_.circumstances(call) : std::string());
  out.end_object();
  return sha256(out.take());
}

}  // namespace

Result<std::shared_ptr<CallGate>> make_policy_gate(GatePolicy policy,
                                                   std::map<std::string, GatedTool> tools,
                                                   Loop& loop) {
  PAWL_TRY(RuleSet rules, RuleSet::compile(policy.rules));
  PAWL_TRY(auto approvals, make_approval_policy(policy.approvals));
  return std::shared_ptr<CallGate>(std::make_shared<PolicyGate>(
      std::move(policy), std::move(rules), std::move(approvals), std::move(tools), loop));
}

}  // namespace pawl
