#include "pawl/gate/shell/shell_git.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "pawl/gate/shell/shell_commands.h"

namespace pawl {
namespace {

using Words = std::span<const CommandWord>;

constexpr std::string_view kDashed = "git-";

constexpr std::array<std::string_view, 17> kRunVariables = {"PROMPT_COMMAND",
                                                            "EDITOR",
                                                            "VISUAL",
                                                            "PAGER",
                                                            "MANPAGER",
                                                            "GIT_EDITOR",
                                                            "GIT_PAGER",
                                                            "GIT_SSH_COMMAND",
                                                            "GIT_SSH",
                                                            "GIT_ASKPASS",
                                                            "GIT_SEQUENCE_EDITOR",
                                                            "GIT_EXTERNAL_DIFF",
                                                            "GIT_PROXY_COMMAND",
                                                            "SSH_ASKPASS",
                                                            "LESSOPEN",
                                                            "LESSCLOSE",
                                                            "BROWSER"};

// How keys of a configuration end whose values git runs.
constexpr std::array<std::string_view, 18> kRunKeys = {
    "pager",    "editor",  "sshcommand", "askpass", "fsmonitor",  "gitproxy",
    "external", "command", "textconv",   "cmd",     "driver",     "clean",
    "smudge",   "process", "helper",     "program", "uploadpack", "difffilter"};

// Options whose value a command of git's runs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kRunOptions = {{
    {"rebase", "-x"},
    {"rebase", "--exec"},
    {"difftool", "-x"},
    {"difftool", "--extcmd"},
    {"grep", "-O"},
    {"grep", "--open-files-in-pager"},
    {"clone", "-u"},
    {"clone", "--upload-pack"},
    {"fetch", "--upload-pack"},
    {"pull", "--upload-pack"},
    {"fetch-pack", "--upload-pack"},
    {"fetch-pack", "--exec"},
    {"ls-remote", "--upload-pack"},
    {"ls-remote", "--exec"},
    {"push", "--receive-pack"},
    {"push", "--exec"},
    {"send-pack", "--receive-pack"},
    {"send-pack", "--exec"},
    {"archive", "--exec"},
    {"send-email", "--sendmail-cmd"},
    {"send-email", "--to-cmd"},
    {"send-email", "--cc-cmd"},
    {"instaweb", "--httpd"},
    {"shell", "-c"},
}};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// As literal as the word it was taken from.
CommandWord taken_from(const CommandWord& word, std::string text) {
  CommandWord taken = word;
  taken.value = std::move(text);
  return taken;
}

// What the value of a configuration key runs; nothing: it is only read.
void add_setting(std::string_view key, std::string_view value, const CommandWord& from,
                 std::vector<CommandWord>& texts) {
  const std::string name = lower_case(key);
  const bool shell = value.starts_with('!');
  if (shell) value.remove_prefix(1);
  if (name.find("alias.") != std::string::npos) {
    texts.push_back(taken_from(from, (shell ? "" : "git ") + std::string(value)));
    return;
  }
  const bool runs =
      name.starts_with("pager.") || std::ranges::any_of(kRunKeys, [&name](std::string_view ending) {
        return name.ends_with(ending);
      });
  if (runs) texts.push_back(taken_from(from, std::string(value)));
}

bool has_word(Words words, std::string_view wanted) {
  return std::ranges::any_of(words, [&](const CommandWord& word) { return word.value == wanted; });
}

// -c key=value, config key value.
void add_settings(Words words, std::vector<CommandWord>& texts) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view value = words[i].value;
    const std::size_t dot = value.find('.');
    if (dot == std::string_view::npos) continue;
    const std::size_t equals = value.find('=', dot);
    if (equals != std::string_view::npos) {
      add_setting(value.substr(0, equals), value.substr(equals + 1), words[i], texts);
    } else if (i + 1 < words.size() && has_word(words, "config")) {
      add_setting(value, words[i + 1].value, words[i + 1], texts);
    }
  }
}

Words behind(Words words, std::string_view wanted) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].value == wanted) return words.subspan(i + 1);
  }
  return {};
}

// --config-env=NAME=VARIABLE: the value is whatever the environment has.
void add_environment(Words words, std::vector<CommandWord>& texts) {
  constexpr std::string_view kOption = "--config-env";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].value.starts_with(kOption)) continue;
    texts.push_back(CommandWord::unknown(words[i].value));
  }
}

// In the command of an ext:: address "% " is a space that ends no word.
std::string address_command(std::string_view text) {
  std::string command = "'";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool joined = text.substr(at).starts_with("% ");
    if (joined) ++at;
    const bool ends = text[at] == ' ' && !joined;
    if (text[at] != '\'') command += ends ? std::string("' '") : std::string(1, text[at]);
  }
  return command + "'";
}

// ext::COMMAND is an address of which git runs the command.
void add_addresses(Words words, std::vector<CommandWord>& texts) {
  constexpr std::string_view kCommand = "ext::";
  for (const CommandWord& word : words) {
    const std::size_t at = word.value.find(kCommand);
    if (at == std::string::npos) continue;
    const std::string_view text = std::string_view(word.value).substr(at + kCommand.size());
    texts.push_back(taken_from(word, address_command(text)));
  }
}

// The values of an option: behind it, or attached. Long ones may be abbreviated.
void add_option(Words words, std::string_view option, std::vector<CommandWord>& texts) {
  constexpr std::size_t kShortestLong = 3;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view value = words[i].value;
    if (!option.starts_with("--")) {
      if (value == option && i + 1 < words.size()) texts.push_back(words[i + 1]);
      if (value.starts_with(option) && value.size() > option.size()) {
        texts.push_back(taken_from(words[i], std::string(value.substr(option.size()))));
      }
      continue;
    }
    const std::string_view name = value.substr(0, value.find('='));
    if (name.size() < kShortestLong || !option.starts_with(name)) continue;
    if (name.size() < value.size()) {
      texts.push_back(taken_from(words[i], std::string(value.substr(name.size() + 1))));
    } else if (i + 1 < words.size()) {
      texts.push_back(words[i + 1]);
    }
  }
}

}  // namespace

std::vector<CommandWord> as_git_command(Words words) {
  if (words.empty()) return {};
  const CommandWord& first = words[0];
  std::vector<CommandWord> command = {CommandWord::known("git")};
  if (first.is_literal()) {
    const std::string_view name = command_base_name(first.value);
    if (!name.starts_with(kDashed) || name.size() == kDashed.size()) return {};
    command.push_back(CommandWord::known(std::string(name.substr(kDashed.size()))));
  } else {
    if (!globs_meet(std::string(kDashed) + "*", command_base_name(first.shape))) return {};
    command.push_back(CommandWord::unknown(first.source));
  }
  command.insert(command.end(), words.begin() + 1, words.end());
  return command;
}

std::vector<CommandWord> git_texts(Words arguments) {
  std::vector<CommandWord> texts;
  add_settings(arguments, texts);
  add_environment(arguments, texts);
  add_addresses(arguments, texts);
  for (const auto& [command, option] : kRunOptions) {
    if (has_word(arguments, command)) add_option(arguments, option, texts);
  }
  if (has_word(arguments, "submodule")) {
    for (const CommandWord& word : behind(arguments, "foreach")) texts.push_back(word);
  }
  if (has_word(arguments, "filter-branch")) {
    for (const char* filter : {"env", "tree", "index", "parent", "msg", "commit", "tag-name"}) {
      add_option(arguments, "--" + std::string(filter) + "-filter", texts);
    }
  }
  return texts;
}

Words git_started(Words arguments) {
  if (has_word(arguments, "bisect")) return behind(arguments, "run");
  if (!has_word(arguments, "submodule")) return {};
  Words words = behind(arguments, "foreach");
  while (!words.empty() && words[0].value.starts_with('-')) words = words.subspan(1);
  return words;
}

std::optional<std::string_view> setting_text(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const bool runs = std::ranges::find(kRunVariables, word.substr(0, equals)) != kRunVariables.end();
  return runs ? std::optional(word.substr(equals + 1)) : std::nullopt;
}

}  // namespace pawl
