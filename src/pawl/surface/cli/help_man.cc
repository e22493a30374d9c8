#include <fmt/format.h>

#include "pawl/surface/cli/help.h"

namespace pawl {
namespace {

// Text for roff: hyphens that are typed stay hyphens, and no line begins a request by accident.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out.push_back(c);
    }
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string item(std::string_view label, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(label), roff(text));
}

std::string command_section(const CommandEntry& command) {
  std::string text = fmt::format(".SS {}\n\\fB{}\\fR\n.PP\n{}.", roff(command.name),
                                 roff(usage_line(command)), roff(command.summary));
  if (!command.text.empty()) text += "\n" + roff(command.text);
  text += "\n";
  for (const ArgumentSpec& argument : command.arguments) text += item(argument.name, argument.help);
  for (const OptionSpec& option : command.options) text += item(option_label(option), option.help);
  return text;
}

}  // namespace

std::string man_page() {
  std::string text =
      ".\\\" Made by `pawl man`; do not edit.\n"
      ".TH PAWL 1\n.SH NAME\npawl \\- durable, bounded, replayable agent runs\n"
      ".SH SYNOPSIS\n\\fBpawl\\fR \\fICOMMAND\\fR [arguments] [options]\n"
      ".SH DESCRIPTION\n"
      "pawl runs agents from charters. Every step is journaled before it shows; a killed run goes\n"
      "on where it was; nothing runs past its bounds; and no side effect happens twice behind\n"
      "anyone's back.\n"
      ".SH COMMANDS\n";
  for (const CommandEntry& command : commands()) text += command_section(command);
  text += ".SH OPTIONS\nOf every command, before or after it.\n";
  for (const OptionSpec& option : global_options()) text += item(option_label(option), option.help);
  text += ".SH EXIT STATUS\n";
  for (const ExitCodeSpec& code : exit_codes()) {
    text += item(std::to_string(code.code), code.meaning);
  }
  text +=
      ".SH FILES AND ENVIRONMENT\nFlags come before the environment, the environment before "
      "the configuration file.\n";
  for (const PlaceSpec& place : places()) text += item(place.name, place.meaning);
  return text;
}

}  // namespace pawl
