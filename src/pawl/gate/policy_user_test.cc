#include "pawl/gate/policy_user.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl {
namespace {

UserPolicy policy_of(const std::string& text, std::size_t faults_expected = 0) {
  const DocumentResult document = parse_yaml(text);
  REQUIRE(document.root);
  std::vector<Fault> faults;
  UserPolicy policy = read_user_policy(*document.root, faults, "p.yaml", "policy");
  rules_within(std::span(&policy, 1), {}, faults);
  CHECK_MESSAGE(faults.size() == faults_expected, to_string(faults, "p.yaml"));
  return policy;
}

std::vector<RuleOverride> rules_of(const std::string& text) {
  const DocumentResult document = parse_yaml(text);
  REQUIRE(document.root);
  std::vector<Fault> faults;
  auto rules = read_rules(*document.root, faults, "guardrails");
  CHECK(faults.empty());
  return rules;
}

const ToolRule* find_rule(const std::vector<ToolRule>& rules, const std::string& id) {
  for (const ToolRule& rule : rules) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

TEST_CASE("a charter within a policy tightens its rules and never loosens them") {
  const UserPolicy policies[] = {
      policy_of("guardrails: [{id: no-deploy, tool: deploy, verdict: deny}, "
                "{id: machine-state.bash, enabled: false}]")};
  std::vector<Fault> faults;
  auto rules = rules_within(policies, rules_of("[{id: mine, tool: x, verdict: deny}]"), faults);
  CHECK(faults.empty());
  CHECK(find_rule(rules, "mine") != nullptr);
  CHECK_FALSE(find_rule(rules, "machine-state.bash")->enabled);

  rules = rules_within(policies, rules_of("[{id: no-deploy, enabled: false}]"), faults);
  REQUIRE(faults.size() == 1);
  CHECK(faults.front().message.find("can only tighten") != std::string::npos);
  CHECK(find_rule(rules, "no-deploy")->enabled);

  // Within no policy a charter is the user's own.
  faults.clear();
  rules_within({}, rules_of("[{id: machine-state.bash, enabled: false}]"), faults);
  CHECK(faults.empty());
}

constexpr std::string_view kAnn = "ed25519:YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=";
constexpr std::string_view kBob = "ed25519:YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmI=";

std::string faults_of_approvers(const std::string& yaml) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE(document.root);
  std::vector<Fault> faults;
  read_user_policy(*document.root, faults, "p.yaml", "policy");
  return to_string(faults, "p.yaml");
}

TEST_CASE("approvers are people with keys, and four eyes are two of them") {
  const std::string ann = "ann: '" + std::string(kAnn) + "'";
  CHECK(faults_of_approvers("approvers: {" + ann + "}") == "");
  CHECK(policy_of("approvers: {" + ann + "}").limits.approvers == Approvers::listed);
  CHECK(faults_of_approvers("approvers: {ann: x}").find("p.yaml:1:") != std::string::npos);
  CHECK(faults_of_approvers("approvers: {" + ann + ", eve: '" + std::string(kAnn) + "'}")
            .find("ann's already") != std::string::npos);
  CHECK(faults_of_approvers("approvals: {four_eyes: true}").find("any key") != std::string::npos);
  CHECK(faults_of_approvers("approvals: {four_eyes: true}\napprovers: {" + ann + "}")
            .find("a second person") != std::string::npos);
  CharterPermissions charter;
  charter.approvers = Approvers::others;
  CHECK(four_eyes_objection(charter) != "");
}

TEST_CASE("what a policy and a charter say holds together") {
  const UserPolicy policies[] = {
      policy_of("{allow: [view, bash], deny: [http_*], shell: {allow: [ls, cat]}, approvals: "
                "{policy: {threshold: {steps: 3}}, expires: 1h, four_eyes: true}, permissions: "
                "{grant: [fs_read]}, approvers: {ann: '" +
                std::string(kAnn) + "', bob: ['" + std::string(kBob) + "']}}")};
  CharterPermissions charter;
  charter.allow = {{"bash", "exec"}};
  charter.shell = ShellPolicy{};
  charter.shell->deny = {"cat"};
  charter.expires_ms = 5'000;
  charter.approvals = ApprovalPolicyConfig{AlwaysApproveConfig{}};
  const CharterPermissions joined = permissions_within(policies, charter);
  CHECK(joined.allow == charter.allow);
  REQUIRE(joined.outer.size() == 1);
  CHECK(joined.outer[0].allow == std::vector<std::string>{"view", "bash"});
  CHECK(joined.outer[0].grants->bits == PermissionBits{Permission::fs_read});
  CHECK(joined.listed.front().id == "policy.deny.1");
  CHECK(judge_shell("ls", *joined.shell).verdict == Verdict::allow);
  CHECK(judge_shell("wc x", *joined.shell).verdict == Verdict::ask);
  CHECK(judge_shell("cat x", *joined.shell).verdict == Verdict::deny);
  CHECK(joined.expires_ms == 5'000);
  CHECK(joined.approvers == Approvers::others);
  CHECK(joined.signers ==
        std::vector<Signer>{{"ann", {std::string(kAnn)}}, {"bob", {std::string(kBob)}}});
  CHECK(four_eyes_objection(joined) == "");
  const auto asks = make_approval_policy(*joined.approvals);
  REQUIRE(asks);
  Plan plan;
  plan.steps.resize(4, {"view"});
  CHECK((*asks)->requires_approval(plan));
}

TEST_CASE("stages: who may add a tool, and which agents may call it") {
  const UserPolicy policies[] = {
      policy_of("{tools: {deploy: {author: administrator, execute: [release-*, ops]}}, "
                "administrators: [root]}"),
      policy_of("tools: {deploy: {execute: [ops]}}")};
  CHECK(author_objection(policies, "deploy", "root").empty());
  CHECK(author_objection(policies, "view", "somebody").empty());
  CHECK(author_objection(policies, "deploy", "somebody").find("only an administrator") == 0);
  CHECK(execute_names(policies).at("deploy") == std::vector<std::string>{"ops"});
  CHECK(describe(policies[0]) ==
        "p.yaml: 0 rules, stages of 1 tools; a charter can only tighten it");
}

TEST_CASE("policies are kept as text, and read again as they were") {
  const UserPolicy policies[] = {policy_of("allow: [view]"),
                                 policy_of("guardrails: [{id: g, tool: x, script: ./s.sh}]")};
  const std::vector<PolicyText> texts = texts_of(policies);

  const auto read = policies_of(texts);

  REQUIRE(read);
  REQUIRE(read->size() == 2);
  CHECK(read->front().limits.allow == std::vector<std::string>{"view"});
  CHECK(read->back().source == policies[1].source);
  CHECK(read->back().limits.guardrails[0].script->starts_with('/'));  // beside its file
  for (const char* damaged : {"", "[", R"({"alow":[]})"}) {
    const PolicyText text[] = {{"p", damaged}};
    CHECK_FALSE(policies_of(text));
  }
  CHECK(policies_of({})->empty());
}

TEST_CASE("of two policies, then and now, both hold") {
  const UserPolicy strict =
      policy_of("{allow: [view], guardrails: [{id: no-pay, tool: pay, verdict: deny}]}");
  const UserPolicy loose = policy_of("guardrails: [{id: no-pay, tool: pay, verdict: ask}]");
  CHECK(hold_policies({strict}, {strict}).remark.empty());
  CHECK(hold_policies({strict}, {strict}).all.size() == 1);
  CHECK(hold_policies({strict}, {}).remark.empty());  // nothing is known of its beginning

  const HeldPolicies held = hold_policies({loose}, {strict});
  CHECK(held.remark.find("both hold") != std::string::npos);
  CHECK(permissions_within(held.all, {}).outer.size() == 2);
  std::vector<Fault> faults;
  const auto rules = RuleSet::compile(rules_held(held, {}, faults));
  CHECK(faults.empty());
  REQUIRE(rules);
  const auto judged = rules->judge({"pay", "{}", ""}, [](const std::string&) { return true; });
  REQUIRE(judged.judgement);
  CHECK(judged.judgement->verdict == Verdict::deny);
  CHECK(judged.judgement->rule == "no-pay.accepted");
  // The other way round as well, and where it has gone altogether.
  CHECK(RuleSet::compile(rules_held(hold_policies({strict}, {loose}), {}, faults))
            ->judge({"pay", "{}", ""}, [](const std::string&) { return true; })
            .judgement->verdict == Verdict::deny);
  CHECK(RuleSet::compile(rules_held(hold_policies({}, {strict}), {}, faults))
            ->judge({"pay", "{}", ""}, [](const std::string&) { return true; })
            .judgement->verdict == Verdict::deny);
}

TEST_CASE("faults of a policy are found when it is read") {
  policy_of("{alow: [x]}", 1);
  policy_of("{guardrails: [{id: destroy-disk.bash, enabled: false}]}", 1);
  policy_of("{tools: {deploy: {author: nobody}}}", 1);
  policy_of("[x]", 1);
}

}  // namespace
}  // namespace pawl
