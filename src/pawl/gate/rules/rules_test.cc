#include "pawl/gate/rules/rules.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl {
namespace {

std::vector<RuleOverride> overrides_in(const std::string& yaml, std::string* faults = nullptr) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE(document.root);
  std::vector<Fault> found;
  auto rules = read_rules(*document.root, found, "rules");
  if (faults == nullptr) {
    CHECK(to_string(found, "f") == "");
  } else {
    *faults = to_string(found, "f");
  }
  return rules;
}

// `faults` may be null when there must be none.
std::vector<ToolRule> merged(std::vector<ToolRule> rules, const std::string& yaml,
                             RuleSource source, std::string* faults = nullptr) {
  std::vector<Fault> found;
  auto result = merge_rules(std::move(rules), overrides_in(yaml), source, found);
  if (faults == nullptr) {
    CHECK(to_string(found, "f") == "");
  } else {
    *faults = to_string(found, "f");
  }
  return result;
}

RuleOutcome judge(const std::vector<ToolRule>& rules, const RuleCall& call,
                  const ScriptLookup& script_exists = nullptr) {
  const auto set = RuleSet::compile(rules);
  REQUIRE(set);
  return set->judge(call, script_exists);
}

const std::vector<ToolRule> kBase = {
    {"ask-bash", {"bash", {}}, {}, Verdict::ask, "look first"},
    {"deny-secrets",
     {"*", {{"path", ConditionKind::glob, Sense::is, {"*.key"}}}},
     {},
     Verdict::deny,
     "keys stay here",
     "",
     true,
     Protection::is_protected},
};

TEST_CASE("the strictest of all rules that match decides, in any order") {
  const char* yaml = R"(
- {id: d, tool: bash, verdict: deny, arguments: {command: 'rm*'}, reason: no}
- {id: a, tool: "*", verdict: allow}
- {id: q, tool: bash, verdict: ask}
)";
  auto rules = merged({}, yaml, RuleSource::user);
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(judge(rules, {"bash", R"({"command":"rm x"})"}).judgement ==
          Judgement{Verdict::deny, "d", "no"});
    CHECK(judge(rules, {"bash", R"({"command":"ls"})"}).judgement->rule == "q");
    CHECK(judge(rules, {"view", "{}"}).judgement->verdict == Verdict::allow);
    std::rotate(rules.begin(), rules.begin() + 1, rules.end());
  }
}

TEST_CASE("no rule, no judgement") {
  CHECK_FALSE(judge(kBase, {"view", R"({"path":"a.txt"})"}).judgement);
  CHECK_FALSE(judge({}, {"view", "{}"}).judgement);
}

TEST_CASE("a rule without a reason names itself") {
  const auto rules = merged({}, "[{id: x, tool: t}]", RuleSource::user);
  CHECK(judge(rules, {"t", "{}"}).judgement->reason == "the rule x says ask for t");
}

TEST_CASE("an override by id merges field by field") {
  auto rules = merged(kBase, "[{id: ask-bash, verdict: deny}]", RuleSource::user);
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].verdict == Verdict::deny);
  CHECK(rules[0].reason == "look first");
  CHECK(rules[0].pattern.tool == "bash");
  rules = merged(rules, "[{id: ask-bash, verdict: allow, reason: r, tool: 'b*', during: [p]}]",
                 RuleSource::user);
  CHECK(rules[0] == ToolRule{"ask-bash", {"b*", {}}, {"p"}, Verdict::allow, "r"});
  rules = merged(rules, "[{id: ask-bash, enabled: false}]", RuleSource::user);
  CHECK_FALSE(judge(rules, {"bash", "{}", "p"}).judgement);
}

TEST_CASE("a protected rule cannot be weakened by anybody") {
  for (const RuleSource source : {RuleSource::user, RuleSource::project}) {
    for (const char* change : {"enabled: false", "verdict: ask", "tool: x", "during: [p]",
                               "script: ./x", "arguments: {path: 'never'}"}) {
      INFO(std::string(change));
      std::string faults;
      const auto rules =
          merged(kBase, "[{id: deny-secrets, " + std::string(change) + "}]", source, &faults);
      CHECK(rules == kBase);
      CHECK(faults.find("of a protected rule cannot be changed") != std::string::npos);
    }
  }
  const auto rules = merged(kBase, "[{id: deny-secrets, reason: why}]", RuleSource::user);
  CHECK(rules[1].reason == "why");
}

TEST_CASE("a project's file can only tighten") {
  for (const char* change : {"enabled: false", "verdict: allow", "tool: x", "during: [p]",
                             "script: ./x", "arguments: {path: 'never'}"}) {
    INFO(std::string(change));
    std::string faults;
    const auto rules = merged(kBase, "[{id: ask-bash, " + std::string(change) + "}]",
                              RuleSource::project, &faults);
    CHECK(rules == kBase);
    CHECK(faults.find("f:1:2: rule \"ask-bash\": a project's file can only tighten") == 0);
  }
  CHECK(merged(kBase, "[{id: ask-bash, verdict: deny}]", RuleSource::project)[0].verdict ==
        Verdict::deny);
  CHECK(merged(kBase, "[{id: new, tool: view, verdict: deny}]", RuleSource::project).size() == 3);
  std::string faults;
  CHECK(merged(kBase, "[{id: new, tool: '*', verdict: allow}]", RuleSource::project, &faults) ==
        kBase);
  CHECK(faults.find("this rule allows") != std::string::npos);
}

TEST_CASE("a project cannot switch an allowing rule on") {
  std::vector<ToolRule> rules = {{"a", {"*", {}}, {}, Verdict::allow, "", "", false}};
  std::string faults;
  CHECK(merged(rules, "[{id: a, enabled: true}]", RuleSource::project, &faults) == rules);
  CHECK(faults != "");
  CHECK(merged(rules, "[{id: a, enabled: true, verdict: deny}]", RuleSource::project)[0].verdict ==
        Verdict::deny);
}

TEST_CASE("the user's deny stands against a project's allow of everything") {
  auto rules = merged({}, "[{id: no-rm, tool: bash, verdict: deny, arguments: {command: 'rm*'}}]",
                      RuleSource::user);
  std::string faults;
  rules = merged(rules, "[{id: all, tool: '*', verdict: allow}, {id: no-rm, verdict: allow}]",
                 RuleSource::project, &faults);
  CHECK(judge(rules, {"bash", R"({"command":"rm x"})"}).judgement->verdict == Verdict::deny);
}

TEST_CASE("a missing script denies, one that is there is asked for") {
  const auto rules =
      merged({}, "[{id: s, tool: bash, verdict: allow, script: ./check.sh}]", RuleSource::user);
  RuleOutcome outcome = judge(rules, {"bash", "{}"}, [](const std::string&) { return false; });
  CHECK(outcome.judgement ==
        Judgement{Verdict::deny, "s", "the script ./check.sh of the rule s is missing"});
  CHECK(outcome.needs_script.empty());
  CHECK(judge(rules, {"bash", "{}"}).judgement->verdict == Verdict::deny);
  outcome =
      judge(rules, {"bash", "{}"}, [](const std::string& path) { return path == "./check.sh"; });
  CHECK_FALSE(outcome.judgement);
  REQUIRE(outcome.needs_script.size() == 1);
  CHECK(outcome.needs_script[0].script == "./check.sh");
  CHECK(outcome.needs_script[0].rule == "s");
}

TEST_CASE("no script runs for a call that is denied anyway") {
  const auto rules = merged({}, R"([{id: s, tool: bash, script: ./check.sh},
                                    {id: d, tool: bash, verdict: deny}])",
                            RuleSource::user);
  const RuleOutcome outcome = judge(rules, {"bash", "{}"}, [](const std::string&) { return true; });
  CHECK(outcome.judgement->rule == "d");
  CHECK(outcome.needs_script.empty());
}

TEST_CASE("phases") {
  const auto rules = merged({}, R"([{id: d, tool: bash, verdict: deny, during: [review]},
                                    {id: a, tool: view, verdict: allow, during: [review]}])",
                            RuleSource::user);
  CHECK(judge(rules, {"bash", "{}", "review"}).judgement->verdict == Verdict::deny);
  CHECK_FALSE(judge(rules, {"bash", "{}", "coding"}).judgement);
  CHECK(judge(rules, {"view", "{}", "review"}).judgement->verdict == Verdict::allow);
  // Outside of phases: what forbids holds, what allows does not.
  CHECK(judge(rules, {"bash", "{}"}).judgement->verdict == Verdict::deny);
  CHECK_FALSE(judge(rules, {"view", "{}"}).judgement);
}

TEST_CASE("faults of the document name the rule and the remedy") {
  const auto faults = [](const std::string& yaml) {
    std::string text;
    overrides_in(yaml, &text);
    return text;
  };
  CHECK(faults("{id: x}").find("rules: must be a list") != std::string::npos);
  CHECK(faults("[{tool: x}]").find("rules[0]") != std::string::npos);
  CHECK(faults("[{id: 'a b', tool: x}]").find("\"a b\" is not an id") != std::string::npos);
  CHECK(faults("[{id: a, verdict: permit}]").find("rules[0]") != std::string::npos);
  CHECK(faults("[{id: a, verdikt: ask}]").find("verdikt") != std::string::npos);
  CHECK(faults("[{id: a}, {id: a}]").find("rule \"a\" is written twice") != std::string::npos);
  std::string text;
  merged({}, "[{id: typo, verdict: deny}]", RuleSource::user, &text);
  CHECK(text.find("a new rule needs a tool") != std::string::npos);
  merged({}, "[{id: x, tool: t, arguments: {a: {regex: '('}}}]", RuleSource::user, &text);
  CHECK(text.find("is not an expression") != std::string::npos);
}

TEST_CASE("a set of rules says which one is wrong, and how many there may be") {
  const auto set = RuleSet::compile({{"x", {"", {}}}});
  REQUIRE_FALSE(set);
  CHECK(set.error().message.starts_with("rule \"x\": "));
  CHECK_FALSE(RuleSet::compile(std::vector<ToolRule>(kToolRulesMax + 1, {"x"})));
}

}  // namespace
}  // namespace pawl
