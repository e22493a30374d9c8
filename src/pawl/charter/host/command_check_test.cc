#include "pawl/charter/host/command_check.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/charter/charter_reader.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

std::string notes_on(const std::string& more, const std::string& directory) {
  const std::string text = "name: t\ninstructions: Go.\ntools:\n  define:\n" + more;
  const DocumentResult document = parse_yaml(text);
  REQUIRE(document.root);
  const CharterReading reading = read_charter(*document.root, text, directory);
  REQUIRE(reading.charter);
  return to_string(missing_commands(*reading.charter, *document.root), "t.yaml");
}

void make_file(const std::string& path, std::filesystem::perms mode) {
  std::ofstream(path) << "#!/bin/sh\n";
  std::filesystem::permissions(path, mode);
}

}  // namespace

TEST_CASE("a command that is there is not spoken of, by path or by name") {
  const TempDirectory directory;
  make_file(directory.path() + "/run.sh", std::filesystem::perms::owner_all);

  CHECK(notes_on("    a: { command: [./run.sh] }\n    b: { command: [sh, -c, ls] }\n",
                 directory.path())
            .empty());
}

TEST_CASE("a command that is missing or not executable is named with its line") {
  const TempDirectory directory;
  make_file(directory.path() + "/plain.sh", std::filesystem::perms::owner_read);

  CHECK(notes_on("    a: { command: [./gone.sh] }\n"
                 "    b: { command: [./plain.sh] }\n"
                 "    c: { command: [/usr] }\n"
                 "    d: { command: [sh], effect: reconcilable, status: [./asked.sh] }\n",
                 directory.path()) ==
        "t.yaml:5:19: the command of the tool a: ./gone.sh is not there (paths start at the "
        "charter's directory)\n"
        "t.yaml:6:19: the command of the tool b: ./plain.sh cannot be executed (make it an "
        "executable file: chmod +x)\n"
        "t.yaml:7:19: the command of the tool c: /usr cannot be executed (make it an executable "
        "file: chmod +x)\n"
        "t.yaml:8:55: the command of the tool d: ./asked.sh is not there (paths start at the "
        "charter's directory)\n");
  CHECK(notes_on("    a: { command: [no-such-program-here] }\n", directory.path())
            .find("none of the directories of PATH=/") != std::string::npos);
}

TEST_CASE("what runs in a sandbox is not looked for on the host, what does not is") {
  const TempDirectory directory;
  const std::string text =
      "    a: { command: [./gone.sh] }\n    b: { command: [./gone.sh], sandbox: false }\n"
      "sandbox: { level: namespace }\n";

  const std::string notes = notes_on(text, directory.path());

  CHECK(notes.find("the tool a") == std::string::npos);
  CHECK(notes.find("the tool b") != std::string::npos);
}

TEST_CASE("sc-B16 a repository that a level cannot hold is named, and where it is held it is not") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory.path() + "/work/.git");
  std::filesystem::create_directories(directory.path() + "/plain");
  const auto notes = [&](const std::string& level) {
    const std::string text = "name: t\ninstructions: Go.\nsandbox: { level: " + level +
                             ", directory: work, write: [work, plain] }\n";
    const DocumentResult document = parse_yaml(text);
    REQUIRE(document.root);
    const CharterReading reading = read_charter(*document.root, text, directory.path());
    REQUIRE(reading.charter);
    return to_string(unheld_repositories(*reading.charter, *document.root), "t.yaml");
  };
  CHECK(notes("landlock, protected: if_possible") ==
        "t.yaml:3:19: at the level landlock commands may write the hooks and the configuration of "
        "the git repository in the write root work (use the level namespace, or a write root "
        "without a repository)\n");
  CHECK(notes("landlock").empty());  // refused, by the backend
  CHECK_FALSE(notes("local").empty());
  CHECK(notes("namespace").empty());
}

}  // namespace pawl
