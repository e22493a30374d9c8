#include "pawl/gate/shell/shell_commands.h"

#include <algorithm>

#include "pawl/base/document.h"
#include "pawl/gate/rules/glob.h"
#include "pawl/gate/rules/reach.h"

namespace pawl {
namespace {

using Argv = std::span<const std::string>;

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

bool has_short_flag(Argv argv, char flag) {
  return std::any_of(argv.begin(), argv.end(), [flag](const std::string& word) {
    return is_option(word) && word[1] != '-' && word.find(flag, 1) != std::string::npos;
  });
}

// Bytes that hide a name from a search and not from a shell.
std::string without_quotes(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != '\'' && c != '"' && c != '\\') plain += c;
  }
  return plain;
}

// The longest stretch of a glob that is itself.
std::string_view literal_part(std::string_view glob) {
  std::string_view best;
  while (!glob.empty()) {
    const std::size_t end = std::min(glob.find_first_of("*?"), glob.size());
    if (end > best.size()) best = glob.substr(0, end);
    glob.remove_prefix(std::min(end + 1, glob.size()));
  }
  return best;
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The name stands in the text as a word: "su" is not in "result". A glob may go on where its
// literal part ends.
bool has_name(std::string_view text, std::string_view glob) {
  const std::string_view name = literal_part(glob);
  if (name.empty()) return true;
  const std::size_t place = glob.find(name);
  const bool free_before = place > 0;
  const bool free_after = place + name.size() < glob.size();
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + name.size();
    const bool begins = free_before || at == 0 || !is_name_byte(text[at - 1]);
    const bool ends = free_after || end == text.size() || !is_name_byte(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

std::string is_unsettled(const std::string& part) {
  return part +
         " is settled only when the shell runs it; write every word out, without variables, globs, "
         "braces or substitutions";
}

}  // namespace

std::string_view command_base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool has_command_option(std::span<const std::string> argv, std::string_view pattern) {
  if (pattern.starts_with("--")) {
    return std::any_of(argv.begin(), argv.end(), [pattern](std::string_view word) {
      word = word.substr(0, word.find('='));
      constexpr std::size_t kShortest = 3;
      return glob_matches(pattern, word) ||
             (word.size() >= kShortest && word.starts_with("--") && pattern.starts_with(word));
    });
  }
  return std::all_of(pattern.begin() + 1, pattern.end(),
                     [argv](char flag) { return has_short_flag(argv, flag); });
}

bool operand_matches(std::string_view pattern, const std::string& word) {
  if (glob_matches(pattern, word)) return true;
  const auto plain = plain_path(word);
  return plain && glob_matches(pattern, *plain);
}

std::vector<std::string_view> pattern_words(std::string_view pattern) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = pattern.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(pattern.find_first_of(" \t", begin), pattern.size());
    words.push_back(pattern.substr(begin, end - begin));
    pattern.remove_prefix(end);
  }
}

bool program_matches(std::string_view pattern, std::string_view program) {
  return glob_matches(pattern, program) || glob_matches(pattern, command_base_name(program));
}

std::size_t plain_wrapper_words(std::span<const std::string> argv) {
  if (argv.size() < 2 || is_option(argv[1])) return 0;
  if (argv[0] == "nice" || argv[0] == "command") return 1;
  // A word with '=' would be an assignment.
  if (argv[0] == "env") return argv[1].find('=') == std::string::npos ? 1 : 0;
  if (argv[0] != "timeout" || argv.size() < 3) return 0;
  const std::size_t digits = argv[1].find_first_not_of("0123456789.");
  const bool duration =
      digits != 0 && (digits == std::string::npos || digits + 1 == argv[1].size());
  return duration && !is_option(argv[2]) ? 2 : 0;
}

bool command_matches(std::string_view pattern, std::span<const std::string> argv) {
  const std::vector<std::string_view> words = pattern_words(pattern);
  if (words.empty() || argv.empty()) return false;
  if (!program_matches(words[0], argv[0])) return false;
  const Argv rest = argv.subspan(1);
  std::size_t at = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "*") continue;
    if (is_option(words[i])) {
      if (!has_command_option(rest, words[i])) return false;
      continue;
    }
    while (at < rest.size() && !operand_matches(words[i], rest[at])) ++at;
    if (at == rest.size()) return false;
    ++at;
  }
  return true;
}

std::string pattern_fault(std::string_view pattern) {
  if (pattern_words(pattern).empty()) return "a pattern needs the name of a program";
  if (pattern.size() <= kGlobBytesMax) return {};
  return "a pattern has at most " + std::to_string(kGlobBytesMax) + " bytes";
}

std::string matching_pattern(std::span<const std::string> patterns, const FoundCommands& found,
                             std::string_view text) {
  const std::string plain =
      found.outcome == ShellOutcome::understood ? std::string() : without_quotes(text);
  for (const std::string& pattern : patterns) {
    const bool runs =
        std::any_of(found.commands.begin(), found.commands.end(),
                    [&pattern](const auto& argv) { return command_matches(pattern, argv); });
    if (runs) return pattern;
    if (found.outcome == ShellOutcome::understood) continue;
    const std::vector<std::string_view> words = pattern_words(pattern);
    if (words.empty()) continue;
    if (has_name(text, words[0]) || has_name(plain, words[0])) return pattern;
  }
  return {};
}

std::string hidden_from(std::span<const std::string> patterns, const FoundCommands& found) {
  if (patterns.empty()) return {};
  if (!found.unseen.empty()) return is_unsettled(found.unseen);
  for (const auto& command : found.uncertain) {
    const bool could = std::any_of(
        patterns.begin(), patterns.end(),
        [&command](const std::string& pattern) { return could_match(pattern, command); });
    if (!could) continue;
    for (const CommandWord& word : command) {
      if (!word.is_literal()) return is_unsettled(word.source);
    }
  }
  if (found.outcome != ShellOutcome::understood) return is_unsettled(found.why);
  for (const std::string& pattern : patterns) {
    for (const ToldText& told : found.told) {
      if (!is_told(pattern, told)) continue;
      return quoted(pattern) + " is in what " + quoted(told.program) +
             " is given, which may run it; a command that is denied cannot be run by another one";
    }
  }
  return {};
}

}  // namespace pawl
