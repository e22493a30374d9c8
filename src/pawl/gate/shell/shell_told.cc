#include "pawl/gate/shell/shell_told.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/gate/shell/shell_commands.h"
#include "pawl/gate/shell/shell_programs.h"
#include "pawl/gate/shell/shell_wrappers.h"

namespace pawl {
namespace {

using Argv = std::span<const std::string>;

constexpr std::size_t kTokensMax = 16U << 10U;

// Builtins, and programs that only name files with their words.
constexpr auto kDataPrograms = std::to_array<std::string_view>({
    "[",       "[[",    "break",  "cd",     "chmod",   "chown",    "continue", "cp",
    "declare", "exit",  "export", "file",   "getopts", "hash",     "jobs",     "jq",
    "kill",    "let",   "ln",     "local",  "mkdir",   "mktemp",   "mv",       "popd",
    "printf",  "pushd", "read",   "return", "rm",      "readonly", "rmdir",    "set",
    "shift",   "sleep", "tee",    "test",   "touch",   "type",     "typeset",  "ulimit",
    "umask",   "unset", "wait",   ":",      "egrep",   "fgrep",
});

// Commands of git whose words are names, paths and messages; what their options run is found by
// git_texts().
constexpr auto kDataGit = std::to_array<std::string_view>({
    "add",          "am",           "annotate",     "apply",   "blame",       "branch",
    "cat-file",     "check-ignore", "checkout",     "cherry",  "cherry-pick", "clean",
    "clone",        "commit",       "describe",     "diff",    "diff-tree",   "fetch",
    "format-patch", "fsck",         "gc",           "grep",    "hash-object", "init",
    "log",          "ls-files",     "ls-remote",    "ls-tree", "merge",       "merge-base",
    "mv",           "notes",        "pull",         "push",    "range-diff",  "rebase",
    "reflog",       "remote",       "reset",        "restore", "rev-list",    "rev-parse",
    "revert",       "rm",           "shortlog",     "show",    "show-ref",    "stash",
    "status",       "switch",       "symbolic-ref", "tag",     "update-ref",  "worktree",
});

// Options of git's own whose value is the next word.
constexpr auto kGitValued =
    std::to_array<std::string_view>({"-C", "-c", "--git-dir", "--work-tree", "--namespace",
                                     "--super-prefix", "--config-env", "--attr-source"});

// Looked into by the finder of commands.
constexpr auto kLookedInto = std::to_array<std::string_view>(
    {"eval", "alias", "find", "history", "compgen", "complete", "mapfile", "readarray", "trap"});

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Where the subcommand stands, or the number of words.
std::size_t git_subcommand(Argv argv) {
  std::size_t at = 1;
  while (at < argv.size() && argv[at].starts_with('-'))
    at += is_among(kGitValued, argv[at]) ? 2U : 1U;
  return std::min(at, argv.size());
}

// "-c uploadpack.packObjectsHook=…" belongs to git, and what follows to its subcommand.
Argv undecided_of_git(Argv argv) {
  const std::size_t at = git_subcommand(argv);
  const bool data = at < argv.size() && is_among(kDataGit, argv[at]);
  return data ? argv.subspan(1, at - 1) : argv.subspan(1);
}

// Words that its program may run.
Argv undecided(Argv argv) {
  const std::string_view program = command_base_name(argv[0]);
  if (program.empty() || program.starts_with('-') || is_among(kDataPrograms, program)) return {};
  if (is_among(kLookedInto, program) || is_wrapper(program) || takes_text_anywhere(program)) {
    return {};
  }
  if (is_shell_program(program)) {
    const bool text = std::ranges::any_of(argv.subspan(1), has_letter_c);
    return text ? Argv{} : argv.subspan(1);
  }
  std::vector<std::string> plain(argv.begin(), argv.end());
  plain[0] = program;
  if (!reader_fault(plain)) return {};
  return program == "git" ? undecided_of_git(argv) : argv.subspan(1);
}

bool is_token_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./+@%~").find(c) != std::string_view::npos || (c & 0x80) != 0;
}

// The parts of a path are tokens, too: of sed's s/x/git push/e as well.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size() && tokens.size() < kTokensMax;) {
    std::size_t end = at;
    while (end < text.size() && is_token_byte(text[end])) ++end;
    std::string_view token = text.substr(at, end - at);
    at = end + 1;
    if (token.empty()) continue;
    tokens.emplace_back(token);
    if (token.find('/') == std::string_view::npos) continue;
    while (!token.empty()) {
      const std::size_t slash = std::min(token.find('/'), token.size());
      if (slash > 0) tokens.emplace_back(token.substr(0, slash));
      token.remove_prefix(std::min(slash + 1, token.size()));
    }
  }
  return tokens;
}

// The next thing behind the command is a pipe.
bool is_piped(const ReadCommand& command, std::string_view text) {
  std::size_t at = command.words.back().end;
  for (const ShellRedirection& one : command.redirections) at = std::max(at, one.target.end);
  at = text.find_first_not_of(" \t)}", at);
  return at != std::string_view::npos && text[at] == '|' && text.substr(at, 2) != "||";
}

std::vector<std::string> values_of_words(const ReadCommand& command) {
  std::vector<std::string> values;
  for (const ShellWord& word : command.words) values.push_back(word.value());
  return values;
}

std::string joined(Argv words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

// What stands in the text for its commands to read. Which of them reads it is not looked at.
std::vector<std::string> inputs_in(const ShellReading& reading, std::string_view text) {
  std::vector<std::string> inputs;
  for (const ShellDocument& document : reading.documents) inputs.push_back(document.body);
  for (const ReadCommand& command : reading.commands) {
    for (const ShellRedirection& one : command.redirections) {
      if (one.operation.ends_with("<<<")) inputs.push_back(one.target.value());
    }
    if (command.words.empty() || !is_piped(command, text)) continue;
    const std::vector<std::string> words = values_of_words(command);
    const std::string_view program = command_base_name(words[0]);
    if (program == "echo" || program == "printf") inputs.push_back(with_line_ends(joined(words)));
  }
  return inputs;
}

}  // namespace

bool is_code(std::string_view word) {
  return !std::ranges::all_of(word, is_token_byte);
}

bool takes_words_as_data(std::span<const std::string> argv) {
  return argv.empty() || undecided(argv).empty();
}

std::vector<ToldText> told_by_words(std::span<const std::string> argv) {
  const Argv words = argv.empty() ? Argv{} : undecided(argv);
  if (words.empty()) return {};
  return {{std::string(command_base_name(argv[0])), joined(words)}};
}

std::vector<ToldText> told_by_input(const ShellReading& reading, std::string_view text) {
  std::vector<ToldText> told;
  std::vector<std::string> inputs = inputs_in(reading, text);
  if (inputs.empty()) return told;
  for (const ReadCommand& command : reading.commands) {
    if (command.words.empty()) continue;
    std::vector<std::string> words = values_of_words(command);
    const std::string program(command_base_name(words[0]));
    words.emplace_back("input ");  // a program without words may read as well
    if (is_shell_program(program) || takes_words_as_data(words)) continue;
    for (std::string& input : inputs) {
      told.push_back({program, std::move(input)});
    }
    break;
  }
  return told;
}

bool is_told(std::string_view pattern, const ToldText& told) {
  const std::vector<std::string_view> words = pattern_words(pattern);
  // One name may be that of anything: `init` of a function, `curl` of a package.
  if (words.size() < 2 || words[0].find_first_not_of("*?") == std::string_view::npos) return false;
  const std::vector<std::string> tokens = tokens_of(told.text);
  // Anything may stand between words, so that what matches from a later one matches from here.
  const auto first = std::ranges::find_if(
      tokens, [&](const std::string& token) { return program_matches(words[0], token); });
  return first != tokens.end() && command_matches(pattern, std::span(first, tokens.end()));
}

}  // namespace pawl
