#include "pawl/app/script_model.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "pawl/base/files.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

constexpr const char* kSecret = "root:x:0:0:hunter2\n";

}  // namespace

TEST_CASE("the script of a model is read beneath the charter's directory, links included") {
  const TempDirectory top;
  const std::string directory = top / "charters";
  REQUIRE(make_private_directory(directory + "/sub"));
  REQUIRE(write_new_file(directory + "/a.yaml", "replies: []\n"));
  std::filesystem::create_symlink("../a.yaml", directory + "/sub/link.yaml");

  CHECK(read_script_file(directory, "a.yaml").value() == "replies: []\n");
  CHECK(read_script_file(directory, "sub/../a.yaml").value() == "replies: []\n");
  CHECK(read_script_file(directory, "sub/link.yaml").value() == "replies: []\n");
}

TEST_CASE("a script that leads out of the charter's directory is refused") {
  const TempDirectory top;
  const std::string directory = top / "charters";
  REQUIRE(make_private_directory(directory));
  REQUIRE(write_new_file(top / "passwd", kSecret));
  std::filesystem::create_symlink(top / "passwd", directory + "/absolute");
  std::filesystem::create_symlink("../passwd", directory + "/relative");
  std::filesystem::create_symlink("..", directory + "/up");
  const std::string absolute_name = top / "passwd";

  for (const std::string& name :
       {std::string("../passwd"), absolute_name, std::string("absolute"), std::string("relative"),
        std::string("up/passwd"), std::string("/etc/passwd"), std::string("/proc/self/environ")}) {
    INFO(name);
    const auto text = read_script_file(directory, name);
    REQUIRE_FALSE(text);
    CHECK(text.error().code == ErrorCode::invalid_argument);
    CHECK(text.error().message.find("leads out of the directory") != std::string::npos);
    CHECK(text.error().message.find("hunter2") == std::string::npos);
  }
}

TEST_CASE("a script that is a pipe, a directory or not there is refused at once") {
  const TempDirectory directory;
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  REQUIRE(make_private_directory(directory / "sub"));

  CHECK(read_script_file(directory.path(), "pipe").error().message.find("not a regular file") !=
        std::string::npos);
  CHECK(read_script_file(directory.path(), "sub").error().message.find("not a regular file") !=
        std::string::npos);
  CHECK(read_script_file(directory.path(), "none").error().code == ErrorCode::not_found);
}

TEST_CASE("the faults of a file that is no script quote nothing of it") {
  for (const std::string text : {kSecret, "KEY=hunter2\nX: [hunter2\n", "hunter2: hunter2\n",
                                 "- hunter2\n", "!hunter2 x\n", "", "\x01"}) {
    INFO(text);
    const ScriptText read = read_script_text(text, "some.yaml");
    CHECK_FALSE(read.script);
    REQUIRE(read.faults.size() == 1);
    CHECK(read.faults.front() ==
          "some.yaml: not the script of a model (write a map with the key \"replies\")");
  }
}

TEST_CASE("the faults of a script name their places") {
  const ScriptText read = read_script_text("replies:\n  - txet: Done.\n", "some.yaml");
  CHECK_FALSE(read.script);
  REQUIRE_FALSE(read.faults.empty());
  CHECK(read.faults.front().find("some.yaml:2:") == 0);
  CHECK(read_script_text("replies:\n  - text: Done.\n", "some.yaml").script);
}

}  // namespace pawl
