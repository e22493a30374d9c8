#include "pawl/surface/cli/help.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace pawl {
namespace {

std::string document(const std::string& name) {
  const char* root = std::getenv("PAWL_SOURCE_DIR");
  REQUIRE(root != nullptr);
  std::ifstream file(std::string(root) + "/docs/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the help of a command names its arguments and options") {
  const std::string text = help_text(find_command("run"));

  CHECK(holds(text, "usage: pawl run CHARTER [INPUT] [options]"));
  CHECK(holds(text, "--model-calls N"));
  CHECK(holds(text, "-d, --detach"));
  CHECK(holds(text, "--data DIR"));
}

TEST_CASE("no line of any help is wider than a terminal") {
  std::vector<std::string> texts = {help_text(nullptr)};
  for (const CommandEntry& command : commands()) texts.push_back(help_text(&command));
  for (const std::string& text : texts) {
    std::stringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 88);
  }
}

TEST_CASE("docs/man/pawl.1 is what `pawl man` prints") {
  const bool fresh = document("man/pawl.1") == man_page();
  CHECK_MESSAGE(fresh, "run: pawl man > docs/man/pawl.1");
}

TEST_CASE("docs/cli.md names every command, option and exit code") {
  const std::string text = document("cli.md");
  for (const OptionSpec& option : global_options()) {
    CHECK_MESSAGE(holds(text, "`" + option_label(option) + "`"), option.name);
  }
  for (const CommandEntry& command : commands()) {
    CHECK_MESSAGE(holds(text, "### pawl " + std::string(command.name) + "\n"), command.name);
    for (const OptionSpec& option : command.options) {
      CHECK_MESSAGE(holds(text, "`" + option_label(option) + "`"), option.name);
    }
  }
  for (const ExitCodeSpec& code : exit_codes()) {
    CHECK_MESSAGE(holds(text, "| " + std::to_string(code.code) + " |"), code.code);
  }
}

TEST_CASE("completions know every command") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell);
    REQUIRE(script);
    for (const CommandEntry& command : commands()) {
      CHECK(holds(*script, std::string(command.name)));
    }
  }
  CHECK_FALSE(completion_script("tcsh"));
}

}  // namespace pawl
