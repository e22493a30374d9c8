#include "pawl/gate/shell/shell_hidden.h"

#include <algorithm>

#include "pawl/gate/rules/glob.h"
#include "pawl/gate/shell/shell_commands.h"

namespace pawl {
namespace {

using Form = CommandWord::Form;
using Words = std::span<const CommandWord>;

constexpr std::size_t kShapeBytesMax = 256;  // what is longer may be anything
constexpr std::size_t kSourceBytesMax = 60;  // shown to people
constexpr std::string_view kAnything = "*";

bool expands(const ShellPart& part) {
  return part.kind > ShellPartKind::ansi_quoted;
}

// The shell splits what it becomes into words, or it is several to begin with ("$@").
bool is_split(const ShellPart& part) {
  switch (part.kind) {
    case ShellPartKind::parameter:
      return !part.quoted || part.text.find('@') != std::string::npos;
    case ShellPartKind::command:
    case ShellPartKind::arithmetic:
      return !part.quoted;
    case ShellPartKind::array:
      return true;
    default:
      return false;
  }
}

// Becomes one word for each name or alternative, all of which have the word's other parts.
bool is_multiplied(const ShellPart& part) {
  return part.kind == ShellPartKind::glob || part.kind == ShellPartKind::brace;
}

// What follows belongs to the expansion: [a-z], {a,b}.
bool takes_the_rest(const ShellPart& part) {
  return part.kind == ShellPartKind::brace ||
         (part.kind == ShellPartKind::glob && part.text.starts_with('['));
}

std::string shape_of(const ShellWord& word) {
  std::string shape;
  bool after_tilde = false;  // a user's name belongs to it
  for (const ShellPart& part : word.parts) {
    if (!expands(part) || part.kind == ShellPartKind::translated) {
      const std::size_t skip = after_tilde ? std::min(part.text.find('/'), part.text.size()) : 0;
      shape += part.text.substr(skip);
      after_tilde = after_tilde && skip == part.text.size();
      continue;
    }
    after_tilde = part.kind == ShellPartKind::tilde;
    shape += part.kind == ShellPartKind::process ? "/dev/fd/*" : kAnything;
    if (takes_the_rest(part)) break;
  }
  return shape.size() > kShapeBytesMax ? std::string(kAnything) : shape;
}

bool is_option_pattern(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

bool may_be_option(const CommandWord& word) {
  return !word.is_literal() && (word.shape.starts_with('-') || word.shape.starts_with('*'));
}

// A path may be written in many ways: "$x/.." is "/" as well.
bool may_be_other_path(std::string_view pattern, const CommandWord& word) {
  const std::string_view shape = word.shape;
  if (pattern.find('/') == std::string_view::npos) return false;
  if (word.is_names) {
    return shape.starts_with('.') || shape.find("/.") != std::string_view::npos ||
           shape.find("//") != std::string_view::npos;
  }
  return shape.empty() || std::string_view("*/.").find(shape.front()) != std::string_view::npos;
}

bool could_be_operand(std::string_view pattern, const CommandWord& word) {
  if (word.is_literal()) return operand_matches(pattern, word.value);
  return globs_meet(pattern, word.shape) || may_be_other_path(pattern, word);
}

constexpr std::size_t kImpossible = SIZE_MAX / 2;

// The fewest words of the form `one` that stand for operands of the pattern, in its order.
std::size_t operands_cost(std::span<const std::string_view> operands, Words words) {
  std::vector<std::size_t> cost(operands.size() + 1, kImpossible);
  cost[0] = 0;
  for (const CommandWord& word : words) {
    if (word.form == Form::many) {
      for (std::size_t i = 1; i < cost.size(); ++i) {
        if (could_be_operand(operands[i - 1], word)) cost[i] = std::min(cost[i], cost[i - 1]);
      }
      continue;
    }
    const std::size_t price = word.form == Form::one ? 1 : 0;
    for (std::size_t i = cost.size() - 1; i > 0; --i) {
      if (could_be_operand(operands[i - 1], word)) {
        cost[i] = std::min(cost[i], cost[i - 1] + price);
      }
    }
  }
  return cost.back();
}

// How many unknown words the options need that are not written out. One is enough for all letters.
std::size_t options_cost(std::span<const std::string_view> options,
                         std::span<const std::string> literal) {
  std::size_t long_ones = 0;
  bool letters = false;
  for (const std::string_view option : options) {
    if (has_command_option(literal, option)) continue;
    if (option.starts_with("--")) {
      ++long_ones;
    } else {
      letters = true;
    }
  }
  return long_ones + (letters ? 1 : 0);
}

bool could_match_arguments(std::span<const std::string_view> pattern, Words words) {
  std::vector<std::string_view> options;
  std::vector<std::string_view> operands;
  for (const std::string_view word : pattern) {
    if (word == "*") continue;
    (is_option_pattern(word) ? options : operands).push_back(word);
  }
  std::vector<std::string> literal;
  std::size_t ones = 0;
  std::size_t options_there = 0;
  bool any_options = false;
  for (const CommandWord& word : words) {
    literal.push_back(word.value);  // What is known of a word may be all of it: "--forc$x".
    ones += word.form == Form::one;
    options_there += word.form == Form::one && may_be_option(word);
    any_options = any_options || (word.form == Form::many && may_be_option(word));
  }
  const std::size_t operands_need = operands_cost(operands, words);
  if (operands_need >= kImpossible) return false;
  const std::size_t options_need = any_options ? 0 : options_cost(options, literal);
  return options_need <= options_there && operands_need + options_need <= ones;
}

// The program's last part is written out: ~/bin/tool, "$HOME"/bin/tool.
std::string known_program(const CommandWord& word) {
  if (word.form != Form::one) return {};
  const std::size_t slash = word.shape.rfind('/');
  if (slash == std::string::npos) return {};
  std::string name = word.shape.substr(slash + 1);
  return name.find_first_of("*?") == std::string::npos ? name : std::string();
}

bool could_be_program(std::string_view pattern, const CommandWord& word) {
  if (word.is_literal()) return program_matches(pattern, word.value);
  const std::string name = known_program(word);
  if (name.empty()) return true;
  return program_matches(pattern, name) || pattern.find('/') != std::string_view::npos;
}

}  // namespace

CommandWord CommandWord::unknown(std::string source) {
  return {{}, Form::many, std::string(kAnything), std::move(source)};
}

CommandWord command_word(const ShellWord& word, std::string_view text) {
  if (word.is_literal()) return CommandWord::known(word.value());
  const std::size_t begin = std::min(word.begin, text.size());
  std::string source(text.substr(begin, std::min(word.end - begin, kSourceBytesMax)));
  if (std::any_of(word.parts.begin(), word.parts.end(), is_split)) {
    CommandWord any = CommandWord::unknown(std::move(source));
    any.value = word.value();
    return any;
  }
  const bool several = std::any_of(word.parts.begin(), word.parts.end(), is_multiplied);
  const bool names = std::all_of(word.parts.begin(), word.parts.end(), [](const ShellPart& part) {
    return !expands(part) || part.kind == ShellPartKind::glob;
  });
  return {word.value(), several ? Form::many : Form::one, shape_of(word), std::move(source), names};
}

std::vector<std::string> values_of(std::span<const CommandWord> words) {
  std::vector<std::string> values;
  for (const CommandWord& word : words) values.push_back(word.value);
  return values;
}

bool globs_meet(std::string_view one, std::string_view other) {
  // Which prefixes of `other` can be made of the prefix of `one` that was looked at.
  std::vector<bool> reached(other.size() + 1, false);
  reached[0] = true;
  for (std::size_t i = 0; i < other.size() && other[i] == '*'; ++i) reached[i + 1] = true;
  for (const char c : one) {
    std::vector<bool> next(other.size() + 1, false);
    for (std::size_t i = 0; i <= other.size(); ++i) {
      const bool before = i > 0 && reached[i - 1];
      if (c == '*') {
        next[i] = reached[i] || (i > 0 && next[i - 1]);
        continue;
      }
      // A star of the other takes this byte, or is passed over.
      const bool star = i > 0 && other[i - 1] == '*';
      const bool same = i > 0 && (other[i - 1] == c || other[i - 1] == '?' || c == '?');
      next[i] = star ? (reached[i] || next[i - 1]) : (same && before);
    }
    reached = std::move(next);
  }
  return reached.back();
}

bool could_match(std::string_view pattern, std::span<const CommandWord> command) {
  const std::vector<std::string_view> words = pattern_words(pattern);
  if (words.empty() || command.empty()) return false;
  if (command.front().form == Form::many) return true;
  if (!could_be_program(words.front(), command.front())) return false;
  if (!command.front().is_literal() && known_program(command.front()).empty()) return true;
  return could_match_arguments(std::span(words).subspan(1), command.subspan(1));
}

}  // namespace pawl
