// The only file that knows CLI11: it is slow to compile.
#include "pawl/surface/cli/arguments.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <functional>

#include "pawl/base/document.h"
#include "pawl/surface/cli/command_table.h"

namespace pawl {
namespace {

Error usage_error(const std::string& message, const std::string& command) {
  const std::string help = command.empty() ? "pawl --help" : "pawl " + command + " --help";
  return {ErrorCode::invalid_argument, message + " (see " + help + ")"};
}

std::string flags_of(const OptionSpec& option) {
  std::string flags = "--" + std::string(option.name);
  if (option.letter != '\0') flags = std::string("-") + option.letter + "," + flags;
  return flags;
}

// One command's options among CLI11's, and where each was written down.
using Bindings = std::vector<std::pair<std::string, CLI::Option*>>;

void add_option(CLI::App& app, const OptionSpec& spec, Bindings& bindings) {
  CLI::Option* option = nullptr;
  if (spec.takes == Takes::nothing) {
    option = app.add_flag(flags_of(spec));
  } else {
    option = app.add_option(flags_of(spec));
    if (spec.takes == Takes::value_maybe) option->expected(0, 1);
    if (spec.takes == Takes::values) option->expected(1, -1)->allow_extra_args(false);
  }
  bindings.emplace_back(std::string(spec.name), option);
}

void collect(const Bindings& bindings, Arguments& out) {
  for (const auto& [name, option] : bindings) {
    if (option->count() > 0) out.values[name] = option->results();
  }
}

std::string nearest_command(const std::string& word) {
  std::vector<std::string> names;
  for (const CommandEntry& command : commands()) names.emplace_back(command.name);
  return std::string(nearest(word, names));
}

Status check_complete(const Arguments& arguments) {
  const CommandEntry* command = find_command(arguments.command);
  if (command == nullptr || arguments.has("help") || arguments.has("version")) return ok();
  for (const ArgumentSpec& argument : command->arguments) {
    const std::string name(argument.name);
    const bool excused = arguments.has(argument.unless) || arguments.has(argument.or_unless);
    if (argument.need == Need::optional || excused || arguments.has(name)) continue;
    return usage_error(name + " is missing: " + usage_line(*command), arguments.command);
  }
  return ok();
}

std::string explain_extras(const std::vector<std::string>& extras) {
  const std::string& word = extras.front();
  if (word.empty() || word.front() != '-') {
    const std::string meant = nearest_command(word);
    if (!meant.empty()) return "'" + word + "' is not a command; did you mean " + meant + "?";
  }
  return "'" + word + "' is not understood";
}

// CLI11 says "--steps: 1 required TEXT missing".
std::string in_our_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::size_t colon = text.find(':');
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr &&
                           text.starts_with("--") && text.ends_with("missing");
  return lacks_value ? text.substr(0, colon) + " needs a value" : text;
}

struct Parser {
  CLI::App app{"pawl"};
  Bindings global;
  std::map<std::string, Bindings, std::less<>> by_command;

  Parser() {
    app.set_help_flag();
    app.require_subcommand(0, 1);
    app.allow_extras();
    for (const OptionSpec& option : global_options()) add_option(app, option, global);
    for (const CommandEntry& command : commands()) add_command(command);
  }

  void add_command(const CommandEntry& command) {
    CLI::App* sub = app.add_subcommand(std::string(command.name));
    sub->set_help_flag();
    sub->fallthrough();  // global options may stand anywhere
    Bindings& bindings = by_command[std::string(command.name)];
    for (const ArgumentSpec& argument : command.arguments) {
      const std::string name(argument.name);
      CLI::Option* option = sub->add_option(name);
      if (argument.need == Need::one_or_more) option->expected(1, -1)->allow_extra_args();
      bindings.emplace_back(name, option);
    }
    for (const OptionSpec& option : command.options) add_option(*sub, option, bindings);
  }

  Result<Arguments> read() const {
    Arguments out;
    for (const CLI::App* sub : app.get_subcommands()) out.command = sub->get_name();
    auto extras = app.remaining(true);
    std::erase(extras, "--");  // CLI11 counts the mark itself among what is left over.
    if (!extras.empty()) return usage_error(explain_extras(extras), out.command);
    collect(global, out);
    if (!out.command.empty()) collect(by_command.find(out.command)->second, out);
    PAWL_CHECK(check_complete(out));
    return out;
  }
};

template <class T>
Result<std::uint64_t> positive(std::string_view option, const std::string& text, T value,
                               std::string_view example) {
  if (value && *value > 0) return static_cast<std::uint64_t>(*value);
  return Error{ErrorCode::invalid_argument, "--" + std::string(option) + " is " +
                                                pawl::quoted(text) + ", which is not " +
                                                std::string(example)};
}

}  // namespace

std::optional<std::string> Arguments::one(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::string Arguments::one_or(std::string_view name, std::string fallback) const {
  return one(name).value_or(std::move(fallback));
}

std::vector<std::string> Arguments::many(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

Result<Arguments> parse_arguments(int argc, const char* const* argv) {
  Parser parser;
  try {
    parser.app.parse(argc, argv);
    return parser.read();
  } catch (const CLI::ParseError& error) {
    const auto used = parser.app.get_subcommands();
    return usage_error(in_our_words(error), used.empty() ? "" : used.front()->get_name());
  }
}

Result<std::uint64_t> parse_count(std::string_view option, const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, fault] = std::from_chars(text.data(), end, number);
  const bool whole = fault == std::errc{} && stopped == end;
  return positive(option, text, whole ? std::optional(number) : std::nullopt,
                  "a whole number above 0");
}

Result<std::uint64_t> parse_duration_option(std::string_view option, const std::string& text) {
  return positive(option, text, parse_duration_ms(text), "a duration such as 90s, 10m or 1h");
}

Result<std::uint64_t> parse_bytes_option(std::string_view option, const std::string& text) {
  return positive(option, text, parse_bytes(text), "a size such as 4096, 64KiB or 10MB");
}

Result<KeyValue> parse_key_value(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error{ErrorCode::invalid_argument,
                 "--var is " + pawl::quoted(text) + "; write it as NAME=VALUE"};
  }
  return KeyValue{text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace pawl
