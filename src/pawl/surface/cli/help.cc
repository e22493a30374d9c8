#include "pawl/surface/cli/help.h"

#include <fmt/format.h>

namespace pawl {
namespace {

constexpr std::size_t kLabelColumns = 26;
constexpr std::size_t kTextColumns = 78;

// `text` in lines of kTextColumns, each but the first indented by `indent` columns.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > indent && column + 1 + end > kTextColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += " ";
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string entry(const std::string& label, std::string_view text) {
  std::string line = "  " + label;
  if (line.size() + 1 > kLabelColumns) {
    line += "\n" + std::string(kLabelColumns, ' ');
  } else {
    line.resize(kLabelColumns, ' ');
  }
  return line + wrapped(text, kLabelColumns) + "\n";
}

std::string options_text(const std::vector<OptionSpec>& options) {
  std::string text;
  for (const OptionSpec& option : options) text += entry(option_label(option), option.help);
  return text;
}

std::string overview() {
  std::string text =
      "pawl runs agents durably: every step is journaled before it shows, a killed run goes\n"
      "on where it was, nothing runs past its bounds, no effect happens twice unnoticed.\n\n"
      "usage: pawl COMMAND [arguments] [options]\n\ncommands:\n";
  for (const CommandEntry& command : commands()) {
    text += entry(std::string(command.name), command.summary);
  }
  text += "\noptions of every command:\n" + options_text(global_options());
  text += "\nexit codes:\n";
  for (const ExitCodeSpec& code : exit_codes()) {
    text += entry(std::to_string(code.code), code.meaning);
  }
  return text +
         "\npawl COMMAND --help says more. Start with: pawl init, then pawl run agent.yaml\n";
}

}  // namespace

std::string help_text(const CommandEntry* command) {
  if (command == nullptr) return overview();
  std::string text = std::string(command->summary) + ".\n";
  if (!command->text.empty()) text += wrapped(command->text, 0) + "\n";
  text += "\nusage: " + usage_line(*command) + "\n";
  if (!command->arguments.empty()) text += "\narguments:\n";
  for (const ArgumentSpec& argument : command->arguments) {
    text += entry(std::string(argument.name), argument.help);
  }
  if (!command->options.empty()) text += "\noptions:\n" + options_text(command->options);
  return text + "\noptions of every command:\n" + options_text(global_options());
}

}  // namespace pawl
