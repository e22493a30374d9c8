#include "pawl/gate/shell/shell_evaluated.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace pawl {
namespace {

constexpr std::array<std::string_view, 17> kEvaluators = {
    "let",  "declare", "typeset", "local",   "export",    "readonly", "test",    "[",   "[[",
    "read", "printf",  "unset",   "mapfile", "readarray", "wait",     "getopts", "bind"};

// The byte behind the parenthesis that ends what begins at `at`.
std::optional<std::size_t> end_of_parentheses(std::string_view value, std::size_t at) {
  std::size_t depth = 1;
  for (; at < value.size(); ++at) {
    if (value[at] == '(') ++depth;
    if (value[at] == ')' && --depth == 0) return at + 1;
  }
  return std::nullopt;
}

// The value of name=value and name+=value; the word itself where it is neither.
std::string_view assigned(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals == std::string_view::npos ? word : word.substr(equals + 1);
}

bool expands_a_value(const ShellPart& part) {
  return part.kind == ShellPartKind::parameter && part.text.find("@P") != std::string::npos;
}

}  // namespace

Substitutions substitutions_in(std::string_view value) {
  Substitutions found;
  for (std::size_t at = 0; at < value.size();) {
    const bool dollar = value.substr(at).starts_with("$(");
    if (!dollar && value[at] != '`') {
      ++at;
      continue;
    }
    const std::size_t begin = at + (dollar ? 2 : 1);
    const std::size_t tick = value.find('`', begin);
    const auto end = dollar                           ? end_of_parentheses(value, begin)
                     : tick == std::string_view::npos ? std::optional<std::size_t>()
                                                      : std::optional(tick + 1);
    found.texts.emplace_back(value.substr(begin, end ? *end - 1 - begin : value.size()));
    if (!end) {
      found.end = Substitutions::End::open;
      return found;
    }
    at = *end;
  }
  return found;
}

bool evaluates_its_words(std::string_view program) {
  return std::ranges::find(kEvaluators, program) != kEvaluators.end();
}

bool is_name_and_value(std::string_view word) {
  std::string_view name = word.substr(0, word.find('='));
  if (name.size() == word.size()) return false;
  if (name.ends_with('+')) name.remove_suffix(1);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::ranges::all_of(name, fits);
}

std::string evaluated_later(const ShellReading& reading) {
  std::string begun;
  bool ended = false;
  for (const ReadCommand& command : reading.commands) {
    for (const ShellWord& set : command.assignments) {
      const std::string word = set.value();
      const std::string_view value = assigned(word);
      if (value.ends_with('$')) begun = word;
      ended = ended || value.starts_with('(');
    }
    for (const auto* words : {&command.assignments, &command.words}) {
      for (const ShellWord& word : *words) {
        const auto found = std::ranges::find_if(word.parts, expands_a_value);
        if (found != word.parts.end()) return found->text;
      }
    }
  }
  return ended ? begun : std::string();
}

}  // namespace pawl
