#include "pawl/gate/shell/shell_rules.h"

#include <algorithm>
#include <optional>

#include "pawl/base/document.h"
#include "pawl/gate/rules/verdict.h"
#include "pawl/gate/shell/shell_commands.h"
#include "pawl/gate/shell/shell_programs.h"
#include "pawl/gate/shell/shell_reader.h"

namespace pawl {
namespace {

using Argv = std::span<const std::string>;

Judgement denied(std::string rule, std::string reason) {
  return {Verdict::deny, std::move(rule), std::move(reason)};
}

Judgement asked(std::string rule, std::string reason) {
  return {Verdict::ask, std::move(rule), std::move(reason)};
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// The words, when the reader is sure of each.
std::optional<std::vector<std::string>> literal_words(const ReadCommand& command) {
  std::vector<std::string> words;
  for (const ShellWord& word : command.words) {
    if (!word.is_literal()) return std::nullopt;
    words.push_back(word.value());
  }
  return words;
}

// The words of a text that is one simple command and nothing else.
std::optional<std::vector<std::string>> single_command(std::string_view text) {
  const ShellReading reading = read_shell(text);
  const bool single = reading.outcome == ShellOutcome::understood && reading.features.none() &&
                      reading.commands.size() == 1;
  return single ? literal_words(reading.commands[0]) : std::nullopt;
}

bool is_allowed_exactly(Argv argv, const ShellPolicy& policy) {
  return std::any_of(policy.allow.begin(), policy.allow.end(), [argv](const std::string& entry) {
    const auto words = single_command(entry);
    return words && std::equal(words->begin(), words->end(), argv.begin(), argv.end());
  });
}

// Why a command is not allowed, or nothing.
std::optional<std::string> not_allowed(Argv argv, const ShellPolicy& policy) {
  if (argv.empty()) return "there is no command";
  constexpr std::size_t kWrappersMax = 4;
  for (std::size_t i = 0; i < kWrappersMax; ++i) argv = argv.subspan(plain_wrapper_words(argv));
  const std::string name = reader_name(argv);
  if (name.empty()) {
    if (is_allowed_exactly(argv, policy)) return std::nullopt;
    return quoted(argv[0]) + " is not among the commands that run without a question";
  }
  if (!contains(policy.allow, name) && !contains(policy.allow, "*")) {
    if (is_allowed_exactly(argv, policy)) return std::nullopt;
    return quoted(name) + " is not allowed without a question";
  }
  if (const auto fault = reader_fault(argv)) return name + ": " + *fault;
  return std::nullopt;
}

bool is_fine_form(const ShellReading& reading, ShellGrammar grammar) {
  if (grammar == ShellGrammar::single) {
    return reading.features.none() && reading.commands.size() == 1;
  }
  return reading.features.only({ShellFeature::list, ShellFeature::pipeline}) &&
         !reading.commands.empty();
}

Judgement judge_reading(const ShellReading& reading, const ShellPolicy& policy) {
  if (reading.commands.empty() && reading.features.none()) {
    return denied("shell.empty", "there is no command in it");
  }
  if (!is_fine_form(reading, policy.grammar)) {
    const std::string what = describe(reading.features);
    return asked("shell.form", "it is more than a simple command: " +
                                   (what.empty() ? std::string("several commands") : what));
  }
  for (const ReadCommand& command : reading.commands) {
    const auto words = literal_words(command);
    const auto why = words ? not_allowed(*words, policy) : std::string("a word expands");
    if (why) return asked("shell.allow", *why);
  }
  return {Verdict::allow, "shell.allow", {}};
}

// What patterns forbid or ask about; nothing when none speaks.
std::optional<Judgement> judge_patterns(const FoundCommands& found, std::string_view text,
                                        const ShellPolicy& policy) {
  if (const std::string rule = matching_pattern(policy.deny, found, text); !rule.empty()) {
    return denied("shell.deny", "commands that match " + quoted(rule) + " are denied");
  }
  if (found.outcome == ShellOutcome::too_much || found.outcome == ShellOutcome::malformed) {
    return denied("shell.unreadable",
                  "the command cannot be read (" + found.why + "): write it more simply");
  }
  if (const std::string rule = matching_pattern(policy.ask, found, text); !rule.empty()) {
    return asked("shell.ask", "commands that match " + quoted(rule) + " are asked about");
  }
  if (found.outcome == ShellOutcome::unsupported) {
    return asked("shell.unreadable", "the command is not fully understood (" + found.why + ")");
  }
  return std::nullopt;
}

bool is_strange(char c) {
  return (c >= 0 && c <= 0x20) || c == 0x7F;
}

// A name with a space or a control character at its ends looks like another program's.
std::optional<Judgement> judge_words(Argv argv) {
  std::size_t bytes = 0;
  for (const std::string& word : argv) {
    bytes += word.size();
    if (word.find('\0') != std::string::npos) {
      return denied("argv.nul", "a word holds a NUL byte, which ends it for the system");
    }
  }
  if (argv.empty() || argv[0].empty()) return denied("argv.empty", "there is no command in it");
  if (argv.size() > kShellWordsMax || bytes > kShellBytesMax) {
    return denied("argv.bounds", "a command has at most " + std::to_string(kShellWordsMax) +
                                     " words and " + std::to_string(kShellBytesMax) + " bytes");
  }
  if (std::any_of(argv[0].begin(), argv[0].end(), is_strange)) {
    return denied("argv.name", "the program's name " + quoted(argv[0]) +
                                   " holds a space or a control character");
  }
  return std::nullopt;
}

bool is_plain_text(Argv argv) {
  return std::all_of(argv.begin(), argv.end(), [](const std::string& word) {
    return std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t';  // as in shell text
    });
  });
}

}  // namespace

ShellPolicy tightened(const ShellPolicy& user, const ShellPolicy& project) {
  ShellPolicy result = user;
  if (!contains(project.allow, "*")) {
    const bool all = contains(user.allow, "*");
    result.allow.clear();
    for (const std::string& entry : project.allow) {
      // Of a whole table the project may choose; what is not in the table it cannot add.
      const bool reader = contains(reader_names(), entry);
      if ((all && reader) || contains(user.allow, entry)) result.allow.push_back(entry);
    }
  }
  result.ask.insert(result.ask.end(), project.ask.begin(), project.ask.end());
  result.deny.insert(result.deny.end(), project.deny.begin(), project.deny.end());
  result.grammar = std::min(user.grammar, project.grammar);
  return result;
}

Judgement judge_shell(std::string_view text, const ShellPolicy& policy) {
  const FoundCommands found = commands_in_text(text);
  if (auto judgement = judge_patterns(found, text, policy)) return *judgement;
  return judge_reading(read_shell(text), policy);
}

Judgement judge_argv(std::span<const std::string> argv, const ShellPolicy& policy) {
  if (auto judgement = judge_words(argv)) return *judgement;
  std::string text;
  for (const std::string& word : argv) text += word + " ";
  if (auto judgement = judge_patterns(commands_in_argv(argv), text, policy)) return *judgement;
  if (!is_plain_text(argv)) {
    return asked("argv.form", "it holds control characters or characters beyond ASCII");
  }
  if (const auto why = not_allowed(argv, policy)) return asked("shell.allow", *why);
  return {Verdict::allow, "shell.allow", {}};
}

Judgement judge_shell_and_argv(std::string_view text, std::span<const std::string> argv,
                               const ShellPolicy& policy) {
  const auto words = single_command(text);
  const bool same = words && std::equal(words->begin(), words->end(), argv.begin(), argv.end());
  if (!same) {
    return denied("shell.mismatch", "the text and the list of words are not the same command");
  }
  return stricter(judge_shell(text, policy), judge_argv(argv, policy));
}

}  // namespace pawl
