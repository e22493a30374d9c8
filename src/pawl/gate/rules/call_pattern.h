// A pattern for calls: the name of a tool and conditions on its arguments. Rules and approval
// policies are made of them.
//
// A condition that the text of an argument does not settle is `maybe` (see reach.h): also a regular
// expression that is found somewhere in an argument but does not cover it, and a list of which only
// some items fit. So `git status` as an expression never allows "git status; rm -r x", and `rm`
// as one forbids it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/gate/rules/reach.h"
#include "pawl/gate/rules/verdict.h"
#include "pawl/json.h"
#include "pawl/permissions.h"
#include "pawl/result.h"

namespace pawl {

std::string_view name(ConditionKind kind);

// The arguments of a call, parsed once for all patterns.
class CallArguments {
 public:
  explicit CallArguments(std::string_view input_json);
  // Null when the input is not JSON: then every condition is maybe.
  const Json* json() const { return value_ ? &*value_ : nullptr; }
  // The value at a name or a pointer, or null.
  const Json* find(std::string_view argument) const;

 private:
  std::optional<Json> value_;
};

class CallPattern {
 public:
  // An error names the argument and what is wrong with its condition.
  static Result<CallPattern> compile(CallPatternSpec spec);
  CallPattern(CallPattern&&) noexcept;
  CallPattern& operator=(CallPattern&&) noexcept;
  ~CallPattern();

  Match match(std::string_view tool, const CallArguments& arguments) const;
  // Of a call that is `hidden`: the part that only the shell's expansions settle.
  std::string hidden_part(const CallArguments& arguments) const;
  const CallPatternSpec& spec() const;

 private:
  struct Parts;
  explicit CallPattern(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

// Whether a pattern with this verdict speaks about a call: doubt forbids and never allows. A rule
// that denies asks about what is hidden (RuleSet::judge).
inline bool applies(Match match, Verdict verdict) {
  return match == Match::yes || (match == Match::maybe && verdict != Verdict::allow);
}

// The map `arguments` of a rule:  command: {regex: "rm .*"}   path: {not_beneath: [src]}
// url: "https://*" is short for a glob. Faults name `where`.
std::vector<ArgumentCondition> read_conditions(const Node& node, std::vector<Fault>& faults,
                                               const std::string& where);
void write_conditions(JsonWriter& out, const std::vector<ArgumentCondition>& conditions);

}  // namespace pawl
