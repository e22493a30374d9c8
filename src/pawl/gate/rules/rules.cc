#include "pawl/gate/rules/rules.h"

#include <algorithm>

namespace pawl {
namespace {

// A call outside of any phase may be of each: that forbids, and does not allow.
Match phase_match(const ToolRule& rule, std::string_view phase) {
  if (rule.during.empty()) return Match::yes;
  if (phase.empty()) return Match::maybe;
  const bool named = std::find(rule.during.begin(), rule.during.end(), phase) != rule.during.end();
  return named ? Match::yes : Match::no;
}

std::string reason_of(const ToolRule& rule, std::string_view tool) {
  if (!rule.reason.empty()) return rule.reason;
  return "the rule " + rule.id + " says " + std::string(name(rule.verdict)) + " for " +
         std::string(tool);
}

// A script may deny, so a call that only may match is put to it too.
bool speaks(const ToolRule& rule, Match match) {
  if (!rule.script.empty()) return match != Match::no;
  return applies(match, rule.verdict) || (match == Match::hidden && rule.verdict == Verdict::deny);
}

// What the words stand for may be another thing the next time: it is asked every time.
Judgement hidden_judgement(const ToolRule& rule, const std::string& part) {
  return {Verdict::ask, rule.id,
          "the rule " + rule.id +
              " denies some commands, and it cannot be told whether this is "
              "one: " +
              part,
          Asking::every_time};
}

}  // namespace

Result<RuleSet> RuleSet::compile(std::vector<ToolRule> rules) {
  if (rules.size() > kToolRulesMax) {
    return Error{ErrorCode::limit_exceeded,
                 "there may be " + std::to_string(kToolRulesMax) + " rules"};
  }
  RuleSet set;
  for (const ToolRule& rule : rules) {
    auto pattern = CallPattern::compile(rule.pattern);
    if (!pattern) {
      return Error{ErrorCode::invalid_argument,
                   "rule " + quoted(rule.id) + ": " + pattern.error().message};
    }
    set.patterns_.push_back(std::move(*pattern));
  }
  set.rules_ = std::move(rules);
  return set;
}

RuleOutcome RuleSet::judge(const RuleCall& call, const ScriptLookup& script_exists) const {
  RuleOutcome outcome;
  const CallArguments arguments(call.input);
  const auto add = [&outcome](Judgement judgement) {
    outcome.judgement = outcome.judgement ? stricter(std::move(*outcome.judgement), judgement)
                                          : std::move(judgement);
  };
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const ToolRule& rule = rules_[i];
    if (!rule.enabled) continue;
    const Match match =
        std::min(phase_match(rule, call.phase), patterns_[i].match(call.tool, arguments));
    if (!speaks(rule, match)) continue;
    if (rule.script.empty() && match == Match::hidden) {
      add(hidden_judgement(rule, patterns_[i].hidden_part(arguments)));
    } else if (rule.script.empty()) {
      add({rule.verdict, rule.id, reason_of(rule, call.tool)});
    } else if (script_exists && script_exists(rule.script)) {
      outcome.needs_script.push_back({rule.id, rule.script, rule.reason});
    } else {
      add({Verdict::deny, rule.id,
           "the script " + rule.script + " of the rule " + rule.id + " is missing"});
    }
  }
  if (outcome.judgement && outcome.judgement->verdict == Verdict::deny) {
    outcome.needs_script.clear();
  }
  return outcome;
}

}  // namespace pawl
