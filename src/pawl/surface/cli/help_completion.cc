#include <fmt/format.h>

#include "pawl/surface/cli/help.h"

namespace pawl {
namespace {

// Asks for ids only when somebody presses the key, so that new runs are offered too.
constexpr std::string_view kListRuns =
    "pawl ls --json 2>/dev/null | "
    "sed -n 's/^{\"run\":\"\\([^\"]*\\)\".*/\\1/p'";

std::string words(const std::vector<OptionSpec>& options) {
  std::string text;
  for (const OptionSpec& option : options) text += " --" + std::string(option.name);
  return text;
}

std::vector<OptionSpec> all_options() {
  std::vector<OptionSpec> all = global_options();
  for (const CommandEntry& command : commands()) {
    all.insert(all.end(), command.options.begin(), command.options.end());
  }
  return all;
}

// What bash offers behind an option whose values are words.
std::string bash_values() {
  std::string cases;
  for (const OptionSpec& option : all_options()) {
    if (option.words.empty()) continue;
    cases += fmt::format("    --{}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                         option.name, option.words);
  }
  return cases;
}

// "ls|show|…" of the commands whose first argument is a run, or a charter.
std::string taking(std::string_view argument) {
  std::vector<std::string_view> names;
  for (const CommandEntry& command : commands()) {
    if (!command.arguments.empty() && command.arguments.front().name == argument) {
      names.push_back(command.name);
    }
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string command_names() {
  std::vector<std::string_view> names;
  for (const CommandEntry& command : commands()) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_script() {
  std::string cases;
  for (const CommandEntry& command : commands()) {
    cases += fmt::format("    {}) options=\"{}{}\" ;;\n", command.name, words(command.options),
                         words(global_options()));
  }
  return fmt::format(R"SCRIPT(# bash completion for pawl: source <(pawl completion bash)
_pawl() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command="" options="{0}" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      --data|--config|--policy|--log-level|--log-file) ((i++)) ;;
      -*) ;;
      *) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $command in
{1}  esac
  case ${{COMP_WORDS[COMP_CWORD - 1]}} in
{5}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -z $command ]]; then
    COMPREPLY=($(compgen -W "{2}" -- "$word"))
  else
    case $command in
      {3}) COMPREPLY=($(compgen -W "$({4})" -- "$word")) ;;
      completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) ;;
      *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
  fi
}}
complete -F _pawl pawl
)SCRIPT",
                     words(global_options()), cases, command_names(), taking("RUN"), kListRuns,
                     bash_values());
}

std::string zsh_option(const OptionSpec& option) {
  std::string help(option.help);
  for (char& c : help) {
    if (c == '[' || c == ']' || c == '\'' || c == ':') c = ' ';
  }
  std::string value = option.takes == Takes::nothing ? "" : fmt::format(":{}:", option.value);
  if (!option.words.empty()) value += fmt::format("({})", option.words);
  const std::string_view repeat = option.takes == Takes::values ? "*" : "";
  return fmt::format("        '{}--{}[{}]{}' \\\n", repeat, option.name, help, value);
}

std::string zsh_script() {
  std::string list;
  std::string cases;
  for (const CommandEntry& command : commands()) {
    list += fmt::format("    '{}:{}'\n", command.name, command.summary);
    cases += fmt::format("      {}) _arguments \\\n", command.name);
    for (const OptionSpec& option : command.options) cases += zsh_option(option);
    for (const OptionSpec& option : global_options()) cases += zsh_option(option);
    cases += command.arguments.empty() ? "        && return ;;\n"
                                       : "        '*::argument:_pawl_argument' && return ;;\n";
  }
  return fmt::format(R"SCRIPT(#compdef pawl
# zsh completion for pawl: pawl completion zsh > "${{fpath[1]}}/_pawl"
_pawl_argument() {{
  case $pawl_command in
    {0}) local -a runs; runs=($({1})); compadd -a runs ;;
    completion) compadd bash zsh fish ;;
    *) _files ;;
  esac
}}
_pawl() {{
  local -a names
  names=(
{2}  )
  if ((CURRENT == 2)); then
    _describe command names
    return
  fi
  local pawl_command=$words[2]
  case $pawl_command in
{3}  esac
}}
compdef _pawl pawl
)SCRIPT",
                     taking("RUN"), kListRuns, list, cases);
}

std::string fish_option(std::string_view condition, const OptionSpec& option) {
  std::string help(option.help);
  for (char& c : help) {
    if (c == '\'') c = ' ';
  }
  const std::string words = fmt::format(" -x -a '{}'", option.words);
  const std::string_view value = option.takes == Takes::nothing ? "" : " -r";
  return fmt::format("complete -c pawl{}{} -l {}{} -d '{}'\n", condition,
                     option.letter == '\0' ? "" : fmt::format(" -s {}", option.letter), option.name,
                     option.words.empty() ? value : words, help);
}

std::string fish_script() {
  std::string text = "# fish completion for pawl: pawl completion fish | source\n";
  for (const OptionSpec& option : global_options()) text += fish_option("", option);
  for (const CommandEntry& command : commands()) {
    text += fmt::format("complete -c pawl -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        command.summary);
    const std::string seen = fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionSpec& option : command.options) text += fish_option(seen, option);
    if (!command.arguments.empty() && command.arguments.front().name == "RUN") {
      text += fmt::format(
          "complete -c pawl{} -f -a '(pawl ls --json 2>/dev/null | "
          "string match -r --groups-only \"^.\\\"run\\\":\\\"([^\\\"]*)\")'\n",
          seen);
    }
  }
  return text;
}

}  // namespace

Result<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return Error{ErrorCode::invalid_argument,
               "no completion for '" + std::string(shell) + "'; there is bash, zsh and fish"};
}

}  // namespace pawl
