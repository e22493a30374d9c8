#include "pawl/surface/cli/command_table.h"

#include <algorithm>

#include "pawl/surface/cli/commands.h"

namespace pawl {

const std::vector<CommandEntry>& commands() {
#define PAWL_COMMAND_ENTRY(name) name##_entry(),
  static const std::vector<CommandEntry> all = {PAWL_COMMANDS(PAWL_COMMAND_ENTRY)};
#undef PAWL_COMMAND_ENTRY
  return all;
}

const std::vector<OptionSpec>& global_options() {
  static const std::vector<OptionSpec> all = {
      {"data", '\0', Takes::value, "DIR", "The data directory."},
      {"config", '\0', Takes::value, "FILE", "The configuration file."},
      {"policy", '\0', Takes::value, "FILE", "What charters may do at most: docs/permissions.md."},
      {"json", '\0', Takes::nothing, "", "Print JSON, one object a line, and nothing else."},
      {"log-level", '\0', Takes::value, "LEVEL", "error, warn, info or debug.",
       "error warn info debug"},
      {"debug", '\0', Takes::nothing, "",
       "Log at debug: requests to models and their responses, without secrets."},
      {"log-file", '\0', Takes::value, "FILE", "Log there instead of to standard error."},
      {"no-color", '\0', Takes::nothing, "", "No colours, as with NO_COLOR set."},
      {"version", '\0', Takes::nothing, "", "Print the version numbers."},
      {"help", 'h', Takes::nothing, "", "Print help on pawl, or on a command."},
  };
  return all;
}

const std::vector<ExitCodeSpec>& exit_codes() {
  static const std::vector<ExitCodeSpec> all = {
      {0, "The run is done, or the command did what it says."},
      {1, "Any other error: no such run, driven elsewhere, the store."},
      {2, "Bad usage, or a charter with faults."},
      {3, "The run failed."},
      {4, "The run waits for someone."},
      {5, "The run was stopped by a limit or a guard."},
      {6, "The run is quarantined: what is stored of it is damaged."},
      {130, "The run was cancelled."},
  };
  return all;
}

const std::vector<PlaceSpec>& places() {
  static const std::vector<PlaceSpec> all = {
      {"--data, PAWL_DATA, data:",
       "The data directory, in this order of precedence; by default "
       "$XDG_DATA_HOME/pawl, or ~/.local/share/pawl. Mode 0700."},
      {"--config, PAWL_CONFIG",
       "The configuration file; by default $XDG_CONFIG_HOME/pawl/"
       "config.yaml, or ~/.config/pawl/config.yaml. Keys: data, "
       "log_level, log_file, color (auto, always, never), and those "
       "of models: providers, models, aliases, tiers, default_model, "
       "default_provider, system_header, catalogue, budget; and policy: what "
       "charters may do at most, as the file of --policy."},
      {"--log-level, PAWL_LOG_LEVEL, log_level:", "How much is logged; by default warn."},
      {"--log-file, PAWL_LOG_FILE, log_file:", "Where to; by default standard error."},
      {"--no-color, NO_COLOR, color:", "Whether a terminal gets colours."},
      {"ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, DEEPSEEK_API_KEY, "
       "GROQ_API_KEY, MISTRAL_API_KEY, XAI_API_KEY, OLLAMA_HOST",
       "The keys of providers, and where Ollama is. pawl doctor says what is missing."},
      {"PAWL_TIER_NAME", "The models of the tier \"name\", unless the configuration has it."},
      {"$XDG_STATE_HOME/pawl/trust, ~/.local/state/pawl/trust",
       "Which files sessions could write, and what they said before: pawl trust. Without such a "
       "place it is in the data directory."},
      {"DATA/logs/RUN.log", "What a detached run's process says."},
  };
  return all;
}

const CommandEntry* find_command(std::string_view name) {
  const auto& all = commands();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const CommandEntry& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string usage_line(const CommandEntry& command) {
  std::string line = "pawl " + std::string(command.name);
  for (const ArgumentSpec& argument : command.arguments) {
    const std::string name(argument.name);
    line += argument.need == Need::optional ? " [" + name + "]" : " " + name;
    if (argument.need == Need::one_or_more) line += "...";
  }
  return line + " [options]";
}

std::string option_label(const OptionSpec& option) {
  std::string label;
  if (option.letter != '\0') label = std::string("-") + option.letter + ", ";
  label += "--" + std::string(option.name);
  if (option.takes == Takes::value_maybe) label += " [" + std::string(option.value) + "]";
  if (option.takes == Takes::value || option.takes == Takes::values) {
    label += " " + std::string(option.value);
  }
  return label;
}

}  // namespace pawl
