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
#include "pawl/base/json.h"
#include "pawl/base/result.h"
#include "pawl/gate/rules/reach.h"
#include "pawl/gate/rules/verdict.h"

namespace pawl {

inline constexpr std::size_t kConditionsMax = 32;        // of one pattern
inline constexpr std::size_t kConditionValuesMax = 64;   // of one condition
inline constexpr std::size_t kConditionBytesMax = 1024;  // of one value

enum class ConditionKind : std::uint8_t {
  glob,     // the argument matches one of the patterns
  regex,    // RE2
  beneath,  // a path at or below one of the places
  host,     // a URL whose host is in the list
  scheme,   // a URL whose scheme is in the list
  runs,     // shell text, or a list of words, in which one of the commands occurs anywhere
};
std::string_view name(ConditionKind kind);

enum class Sense : std::uint8_t { is, is_not };

struct ArgumentCondition {
  std::string argument;  // a member's name, a JSON pointer ("/files/0"), or "*": all arguments
  ConditionKind kind = ConditionKind::glob;
  Sense sense = Sense::is;
  std::vector<std::string> values = {};  // one is enough

  friend bool operator==(const ArgumentCondition&, const ArgumentCondition&) = default;
};

struct CallPatternSpec {
  std::string tool = "*";                         // glob
  std::vector<ArgumentCondition> arguments = {};  // all must hold

  friend bool operator==(const CallPatternSpec&, const CallPatternSpec&) = default;
};

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
