#include "pawl/charter/host/project_docs.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "pawl/base/files.h"
#include "pawl/base/utf8.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

struct Project {
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root / name;
    std::filesystem::create_directories(path.parent_path());
    REQUIRE(write_new_file(path.string(), text));
  }
  void make(const std::string& name) const { std::filesystem::create_directories(root / name); }
  ProjectDocs docs(const std::string& directory) const {
    return read_project_docs(root / directory);
  }

  TempDirectory above;
  const std::filesystem::path root = above / "project";
};

std::string section(const std::string& name, const std::string& text) {
  return "# From the project's file " + name + "\n\n" + text;
}

TEST_CASE("docs are read from the root of the project down to the directory, and no further") {
  const Project project;
  project.make(".git");
  project.write("../CLAUDE.md", "above the project");
  project.write("CLAUDE.md", "root\n");
  project.write("AGENTS.md", "agents\n");
  project.write("a/.claude/CLAUDE.md", "hidden");
  project.write("a/b/CLAUDE.md", "nearest");
  project.write("a/b/c/CLAUDE.md", "below");

  const ProjectDocs docs = project.docs("a/b");

  CHECK(docs.text == section("AGENTS.md", "agents") + "\n\n" + section("CLAUDE.md", "root") +
                         "\n\n" + section("a/.claude/CLAUDE.md", "hidden") + "\n\n" +
                         section("a/b/CLAUDE.md", "nearest"));
  CHECK(docs.notes.empty());
}

TEST_CASE("where there is no repository only the directory itself has a say") {
  const Project project;
  project.write("CLAUDE.md", "somebody's");
  project.write("a/CLAUDE.md", "mine");
  CHECK(project.docs("a").text == section("CLAUDE.md", "mine"));
  CHECK(project.docs("missing").text.empty());
}

TEST_CASE("the same file under two names is told once, and what leads out is not read") {
  const Project project;
  project.make(".git");
  project.write("CLAUDE.md", "once");
  std::filesystem::create_symlink("CLAUDE.md", project.root / "AGENTS.md");
  project.write("../secret", "key");
  project.make("a");
  std::filesystem::create_symlink("../../secret", project.root / "a/CLAUDE.md");

  const ProjectDocs docs = project.docs("a");

  CHECK(docs.text == section("CLAUDE.md", "once"));
  CHECK(docs.notes == std::vector<std::string>{
                          "the model is not told what is in a/CLAUDE.md: it leads out of the "
                          "project"});
}

TEST_CASE("what is no text is left out with a note; a directory or a pipe is nothing") {
  const Project project;
  project.make(".git");
  project.write("CLAUDE.md", "\xff\xfe");
  project.make("AGENTS.md");
  const ProjectDocs docs = project.docs("");
  CHECK(docs.text.empty());
  CHECK(docs.notes ==
        std::vector<std::string>{"the model is not told what is in CLAUDE.md: it is not UTF-8"});
}

TEST_CASE("a long file is cut at a line, and the farthest ones go first when there is too much") {
  const Project project;
  project.make(".git");
  std::string lines;
  while (lines.size() < 2 * kProjectDocBytesMax) lines += "a line with \xC3\xA4 in it\n";
  project.write("CLAUDE.md", lines);
  project.write("a/CLAUDE.md", lines);
  project.write("a/b/CLAUDE.md", std::string(2 * kProjectDocBytesMax, 'x'));

  const ProjectDocs docs = project.docs("a/b");

  CHECK(docs.text.size() < kProjectDocsBytesMax + 500);
  CHECK(is_valid_utf8(docs.text));
  CHECK(docs.text.find("# From the project's file CLAUDE.md") == std::string::npos);
  CHECK(docs.text.find("in it\n[cut by Pawl: ") != std::string::npos);
  CHECK(docs.text.find("# From the project's file a/b/CLAUDE.md") != std::string::npos);
  REQUIRE(docs.notes.size() == 3);
  CHECK(docs.notes[0] ==
        "a/b/CLAUDE.md is cut: the first 32768 of 65536 bytes are what the model "
        "is told");
  CHECK(docs.notes[2].find("CLAUDE.md: it comes after") != std::string::npos);
}

}  // namespace
}  // namespace pawl
