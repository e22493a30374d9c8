#include "pawl/gate/rules/call_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "pawl/gate/rules/glob.h"
#include "pawl/gate/shell/shell_commands.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"glob", "regex",  "beneath",
                                                    "host", "scheme", "runs"};
constexpr std::int64_t kRegexMemoryMax = 1 << 20;

// Twice: as somebody who allows must read it (a dot stops at a line's end), and as somebody who
// forbids.
struct Expression {
  std::unique_ptr<RE2> narrow;
  std::unique_ptr<RE2> wide;
};

struct Condition {
  ArgumentCondition spec;
  std::vector<Expression> expressions;
};

std::unique_ptr<RE2> compile_regex(const std::string& text, bool dot_takes_line_ends) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexMemoryMax);
  options.set_dot_nl(dot_takes_line_ends);
  return std::make_unique<RE2>(text, options);
}

Match either(Match a, Match b) {
  return std::max(a, b);
}

Match negated(Match match) {
  if (match == Match::maybe) return match;
  return match == Match::yes ? Match::no : Match::yes;
}

Match regex_match(const std::vector<Expression>& expressions, const std::string& text) {
  Match best = Match::no;
  for (const Expression& one : expressions) {
    if (RE2::FullMatch(text, *one.narrow)) return Match::yes;
    if (RE2::PartialMatch(text, *one.wide)) best = Match::maybe;
  }
  return best;
}

Match beneath_match(const std::vector<std::string>& roots, const std::string& path) {
  Match best = Match::no;
  for (const std::string& root : roots) best = either(best, path_beneath(path, root));
  return best;
}

Match yes_or_no(bool matches) {
  return matches ? Match::yes : Match::no;
}

Match text_match(const Condition& condition, const std::string& text) {
  const auto& values = condition.spec.values;
  switch (condition.spec.kind) {
    case ConditionKind::glob:
      return yes_or_no(any_glob_matches(values, text));
    case ConditionKind::regex:
      return regex_match(condition.expressions, text);
    case ConditionKind::beneath:
      return beneath_match(values, text);
    case ConditionKind::host: {
      const auto host = host_of_url(text);
      return host ? yes_or_no(host_is_in(*host, values)) : Match::maybe;
    }
    case ConditionKind::scheme: {
      const auto scheme = scheme_of_url(text);
      if (!scheme) return Match::maybe;
      return yes_or_no(std::find(values.begin(), values.end(), *scheme) != values.end());
    }
    case ConditionKind::runs:
      break;
  }
  return Match::maybe;
}

// Yes only when all agree: a list of which one item fits is neither harmless nor harmful as a
// whole.
class Agreement {
 public:
  void add(Match match) {
    if (!said_) {
      said_ = match;
    } else if (*said_ != match) {
      said_ = Match::maybe;
    }
  }
  Match result() const { return said_.value_or(Match::no); }

 private:
  std::optional<Match> said_;
};

// 1e3, 1000.0 and 1000 are one number to a tool. The others as the shortest text that is theirs.
std::string plain_number(const std::string& text) {
  if (text.find_first_of(".eE") == std::string::npos) return text == "-0" ? "0" : text;
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc()) return text;
  constexpr double kExact = 1e15;  // integers below are doubles without a loss
  if (value == std::trunc(value) && std::abs(value) < kExact) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return fmt::format("{}", value);
}

void add_matches(const Condition& condition, const Json& value, Agreement& agreement);

// What is found in a key of the model's is as doubtful as anywhere.
void add_members(const Condition& condition, const JsonObject& object, Agreement& agreement) {
  const bool text =
      condition.spec.kind == ConditionKind::glob || condition.spec.kind == ConditionKind::regex;
  for (const JsonMember& member : object.members()) {
    if (text && text_match(condition, member.key) != Match::no) agreement.add(Match::maybe);
    add_matches(condition, member.value, agreement);
  }
}

void add_matches(const Condition& condition, const Json& value, Agreement& agreement) {
  switch (value.kind()) {
    case JsonKind::null:
      return agreement.add(text_match(condition, "null"));
    case JsonKind::boolean:
      return agreement.add(text_match(condition, value.boolean() ? "true" : "false"));
    case JsonKind::number:
      agreement.add(text_match(condition, value.number().text));
      return agreement.add(text_match(condition, plain_number(value.number().text)));
    case JsonKind::string:
      return agreement.add(text_match(condition, value.string()));
    case JsonKind::array:
      for (const Json& item : value.array()) add_matches(condition, item, agreement);
      return;
    case JsonKind::object:
      return add_members(condition, value.object(), agreement);
  }
}

// All arguments: their names are the tool's own.
void add_arguments(const Condition& condition, const Json& input, Agreement& agreement) {
  if (!input.is_object()) return add_matches(condition, input, agreement);
  for (const JsonMember& member : input.object().members()) {
    add_matches(condition, member.value, agreement);
  }
}

// A list of strings is a list of words.
std::optional<std::vector<std::string>> argv_in(const Json& value) {
  const JsonArray* const list = value.if_array();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> words;
  for (const Json& item : *list) {
    const std::string* const word = item.if_string();
    if (word == nullptr) return std::nullopt;
    words.push_back(*word);
  }
  return words;
}

struct Searched {
  FoundCommands found;
  std::string text;
};

std::optional<Searched> searched(const Json& value) {
  if (const std::string* const text = value.if_string()) {
    return Searched{commands_in_text(*text), *text};
  }
  const auto argv = argv_in(value);
  if (!argv) return std::nullopt;
  std::string text;
  for (const std::string& word : *argv) text += word + " ";
  return Searched{commands_in_argv(*argv), std::move(text)};
}

// Yes: what is certain, and what cannot be read although the program's name is in it.
Match runs_match(const std::vector<std::string>& patterns, const Json& value) {
  const auto commands = searched(value);
  if (!commands) return Match::maybe;
  if (!matching_pattern(patterns, commands->found, commands->text).empty()) return Match::yes;
  return hidden_from(patterns, commands->found).empty() ? Match::no : Match::hidden;
}

Match condition_match(const Condition& condition, const CallArguments& arguments) {
  if (arguments.json() == nullptr) return Match::maybe;
  const bool is_not = condition.spec.sense == Sense::is_not;
  const Json* const value = arguments.find(condition.spec.argument);
  // What is not given may be anything by default.
  if (value == nullptr) return is_not ? Match::maybe : Match::no;
  if (condition.spec.kind == ConditionKind::runs) return runs_match(condition.spec.values, *value);
  Agreement agreement;
  if (value == arguments.json()) {
    add_arguments(condition, *value, agreement);
  } else {
    add_matches(condition, *value, agreement);
  }
  return is_not ? negated(agreement.result()) : agreement.result();
}

Result<Condition> compile_condition(ArgumentCondition spec) {
  const auto refused = [argument = spec.argument](const std::string& what) {
    return Error{ErrorCode::invalid_argument, "argument " + quoted(argument) + ": " + what};
  };
  if (spec.argument.empty()) return refused("a condition needs the name of an argument");
  if (spec.values.empty() || spec.values.size() > kConditionValuesMax) {
    return refused("1 to " + std::to_string(kConditionValuesMax) + " values are possible");
  }
  Condition condition{std::move(spec), {}};
  for (const std::string& value : condition.spec.values) {
    if (value.empty() || value.size() > kConditionBytesMax) {
      return refused("a value has 1 to " + std::to_string(kConditionBytesMax) + " bytes");
    }
    if (condition.spec.kind == ConditionKind::runs && !pattern_fault(value).empty()) {
      return refused(pattern_fault(value));
    }
    if (condition.spec.kind != ConditionKind::regex) continue;
    Expression expression{compile_regex(value, false), compile_regex(value, true)};
    if (!expression.narrow->ok() || !expression.wide->ok()) {
      return refused(quoted(value) + " is not an expression: " + expression.narrow->error());
    }
    condition.expressions.push_back(std::move(expression));
  }
  return condition;
}

// Digits without a leading zero.
std::optional<std::size_t> array_index(std::string_view token) {
  constexpr std::size_t kDigitsMax = 9;
  if (token.empty() || token.size() > kDigitsMax || (token.size() > 1 && token[0] == '0')) {
    return std::nullopt;
  }
  std::size_t index = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<std::size_t>(c - '0');
  }
  return index;
}

// RFC 6901.
const Json* at_pointer(const Json& root, std::string_view pointer) {
  const Json* value = &root;
  while (!pointer.empty() && value != nullptr) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    std::string token;
    for (std::size_t i = 0; i < end; ++i) {
      const bool escape = pointer[i] == '~' && i + 1 < end;
      token += escape ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
    pointer.remove_prefix(end);
    if (const JsonArray* list = value->if_array()) {
      const auto index = array_index(token);
      value = index && *index < list->size() ? &(*list)[*index] : nullptr;
    } else {
      value = value->find(token);
    }
  }
  return value;
}

}  // namespace

std::string_view name(ConditionKind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}

CallArguments::CallArguments(std::string_view input_json) {
  auto value = parse_json(input_json);
  if (value) value_ = std::move(*value);
}

const Json* CallArguments::find(std::string_view argument) const {
  if (!value_) return nullptr;
  if (argument == "*") return &*value_;
  return argument.starts_with('/') ? at_pointer(*value_, argument) : value_->find(argument);
}

struct CallPattern::Parts {
  CallPatternSpec spec;
  std::vector<Condition> conditions;
};

CallPattern::CallPattern(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
CallPattern::CallPattern(CallPattern&&) noexcept = default;
CallPattern& CallPattern::operator=(CallPattern&&) noexcept = default;
CallPattern::~CallPattern() = default;

Result<CallPattern> CallPattern::compile(CallPatternSpec spec) {
  if (spec.tool.empty() || spec.tool.size() > kGlobBytesMax) {
    return Error{ErrorCode::invalid_argument,
                 "the name of a tool has 1 to " + std::to_string(kGlobBytesMax) + " bytes"};
  }
  if (spec.arguments.size() > kConditionsMax) {
    return Error{ErrorCode::limit_exceeded,
                 "a pattern has at most " + std::to_string(kConditionsMax) + " conditions"};
  }
  auto parts = std::make_unique<Parts>();
  for (const ArgumentCondition& condition : spec.arguments) {
    PAWL_TRY(auto compiled, compile_condition(condition));
    parts->conditions.push_back(std::move(compiled));
  }
  parts->spec = std::move(spec);
  return CallPattern(std::move(parts));
}

Match CallPattern::match(std::string_view tool, const CallArguments& arguments) const {
  if (!glob_matches(parts_->spec.tool, tool)) return Match::no;
  Match weakest = Match::yes;
  for (const Condition& condition : parts_->conditions) {
    weakest = std::min(weakest, condition_match(condition, arguments));
  }
  return weakest;
}

std::string CallPattern::hidden_part(const CallArguments& arguments) const {
  for (const Condition& condition : parts_->conditions) {
    if (condition.spec.kind != ConditionKind::runs) continue;
    const Json* const value = arguments.find(condition.spec.argument);
    const auto commands = value == nullptr ? std::nullopt : searched(*value);
    if (!commands) continue;
    std::string hidden = hidden_from(condition.spec.values, commands->found);
    if (!hidden.empty()) return hidden;
  }
  return {};
}

const CallPatternSpec& CallPattern::spec() const {
  return parts_->spec;
}

}  // namespace pawl
