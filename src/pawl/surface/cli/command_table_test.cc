#include "pawl/surface/cli/command_table.h"

#include <doctest/doctest.h>

#include <set>

namespace pawl {

TEST_CASE("no command, and no option of a command, is there twice") {
  std::set<std::string_view> names;
  for (const CommandEntry& command : commands()) {
    CHECK(names.insert(command.name).second);
    std::set<std::string_view> options;
    std::set<char> letters;
    for (const auto* list : {&command.options, &global_options()}) {
      for (const OptionSpec& option : *list) {
        CHECK_MESSAGE(options.insert(option.name).second, command.name << " " << option.name);
        if (option.letter != '\0') CHECK(letters.insert(option.letter).second);
        CHECK((option.takes == Takes::nothing) == option.value.empty());
      }
    }
  }
}

TEST_CASE("every command of the issue is there") {
  for (const char* name :
       {"run",        "init",  "resume", "ls",      "show",    "logs",   "attach",
        "explain",    "pause", "cancel", "message", "resolve", "verify", "validate",
        "completion", "man",   "replay", "diff",    "fork",    "export", "import",
        "rm",         "gc",    "backup", "restore", "doctor",  "sim"}) {
    CHECK_MESSAGE(find_command(name) != nullptr, name);
  }
  CHECK(find_command("") == nullptr);
}

TEST_CASE("every command has a function of its own and a summary of one line") {
  std::set<int (*)(const CliContext&)> functions;
  for (const CommandEntry& command : commands()) {
    const bool callable = command.run != nullptr;
    CHECK_MESSAGE(callable, command.name);
    CHECK_MESSAGE(functions.insert(command.run).second, command.name);
    CHECK_MESSAGE(!command.summary.empty(), command.name);
    CHECK_MESSAGE(!command.summary.ends_with('.'), command.name);
  }
}

// The others ask first when an agent may have written the configuration or the policy.
TEST_CASE("five commands work without the configuration and the policy") {
  std::set<std::string_view> without;
  for (const CommandEntry& command : commands()) {
    if (command.settings == SettingsUse::unused) without.insert(command.name);
  }
  CHECK(without == std::set<std::string_view>{"completion", "init", "man", "schema", "trust"});
}

TEST_CASE("labels and usage say what is optional") {
  CHECK(usage_line(*find_command("cancel")) == "pawl cancel RUN [REASON] [options]");
  CHECK(usage_line(*find_command("rm")) == "pawl rm RUN... [options]");
  CHECK(option_label({"follow", 'f', Takes::nothing, "", ""}) == "-f, --follow");
  CHECK(option_label({"data", '\0', Takes::value, "DIR", ""}) == "--data DIR");
  CHECK(option_label({"happened", '\0', Takes::value_maybe, "RESULT", ""}) ==
        "--happened [RESULT]");
}

}  // namespace pawl
