#include "pawl/adapter/backend/files/rooted_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

TEST_CASE("what create_file wrote is read back byte for byte") {
  const Workspace work;
  const auto files = work.open();
  int count = 0;
  for (const std::string& bytes :
       {std::string("a\r\nb\r"), std::string("no newline"), std::string(), std::string("\n\n"),
        std::string("EOF\nPAWL_EOF\n$(id) `id` 'x' \"y\" \\n\n"),
        std::string("\xff\xfe\x80 binary"), std::string("nul\0inside", 10),
        std::string(300'000, 'x')}) {
    const std::string path = "made/" + std::to_string(++count);

    const BackendOutcome outcome = files->create_file({path, bytes});

    CHECK(succeeded(outcome));
    CHECK(Workspace::get(work.root(path)) == bytes);
    CHECK(outcome.files == std::vector<FileRef>{{path, bytes.size(), sha256(bytes)}});
    CHECK(outcome.level == IsolationLevel::native);
  }
}

TEST_CASE("create_file over a file is an error unless it may overwrite") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("a"), "old");

  CHECK_FALSE(succeeded(files->create_file({"a", "new"})));
  CHECK(Workspace::get(work.root("a")) == "old");

  CHECK(succeeded(files->create_file({"a", "new", FileWrite::Overwrite::yes})));
  CHECK(Workspace::get(work.root("a")) == "new");
  CHECK(work.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a new file under umask 0 is writable by its owner only, and setuid is dropped") {
  const Workspace work;
  const auto files = work.open();
  const mode_t umask_before = ::umask(0);
  Workspace::put(work.root("tool"), "old");
  REQUIRE(::chmod(work.root("tool").c_str(), 06755) == 0);

  CHECK(succeeded(files->create_file({"new", "x"})));
  CHECK(succeeded(files->create_file({"tool", "x", FileWrite::Overwrite::yes})));

  struct stat status{};
  REQUIRE(::stat(work.root("new").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0644U);
  REQUIRE(::stat(work.root("tool").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0755U);
  ::umask(umask_before);
}

TEST_CASE("what root makes for somebody belongs to them") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: not root");
    return;
  }
  constexpr uid_t kSomebody = 12345;
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("theirs"), "old");
  if (::chown(work.root("theirs").c_str(), kSomebody + 1, kSomebody + 1) != 0) {
    MESSAGE("skipped: this root cannot give files away");
    return;
  }
  REQUIRE(::chown(work.root("").c_str(), kSomebody, kSomebody) == 0);

  REQUIRE(succeeded(files->create_file({"d/e/new", "x"})));
  REQUIRE(succeeded(files->str_replace({"theirs", "old", "new"})));

  struct stat status{};
  for (const char* path : {"d", "d/e", "d/e/new"}) {
    REQUIRE(::stat(work.root(path).c_str(), &status) == 0);
    CHECK(status.st_uid == kSomebody);
    CHECK(status.st_gid == kSomebody);
  }
  REQUIRE(::stat(work.root("theirs").c_str(), &status) == 0);
  CHECK(status.st_uid == kSomebody + 1);
}

TEST_CASE("a root that has taken on somebody's rights makes files as that somebody") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: not root");
    return;
  }
  constexpr uid_t kSomebody = 12345;
  const Workspace work;
  const auto files = work.open();
  std::filesystem::permissions(work.root(""), std::filesystem::perms(0777));
  std::filesystem::permissions(std::filesystem::path(work.outside("")).parent_path().parent_path(),
                               std::filesystem::perms(0755));
  BackendOutcome made;
  int user = 0;
  std::thread somebody([&] {  // the rights are this thread's only
    ::setfsgid(kSomebody);
    ::setfsuid(kSomebody);
    user = ::setfsuid(kSomebody);
    made = files->create_file({"d/new", "x"});
  });
  somebody.join();

  if (user != static_cast<int>(kSomebody)) {
    MESSAGE("skipped: this root cannot take on other rights");
    return;
  }
  CHECK_MESSAGE(succeeded(made), made.output);
  struct stat status{};
  REQUIRE(::stat(work.root("d/new").c_str(), &status) == 0);
  CHECK(status.st_uid == kSomebody);
}

TEST_CASE("str_replace wants exactly one match and says where the others are") {
  const Workspace work;
  const auto files = work.open();
  const std::string text = "one\ntwo\r\none\naaa\n";
  Workspace::put(work.root("f"), text);

  const BackendOutcome none = files->str_replace({"f", "three", "3"});
  const BackendOutcome two = files->str_replace({"f", "one", "1"});
  const BackendOutcome overlapping = files->str_replace({"f", "aa", "b"});

  CHECK_FALSE(succeeded(none));
  CHECK(has(none.output, "string_not_found"));
  CHECK(has(none.output, "0 times"));
  CHECK_FALSE(succeeded(two));
  CHECK(has(two.output, "string_not_unique"));
  CHECK(has(two.output, "2 times, in lines 1, 3"));
  CHECK_FALSE(succeeded(overlapping));
  CHECK_FALSE(succeeded(files->str_replace({"f", "", "b"})));
  CHECK(Workspace::get(work.root("f")) == text);

  const BackendOutcome one = files->str_replace({"f", "two\r\n", "2\n"});
  CHECK(succeeded(one));
  CHECK(Workspace::get(work.root("f")) == "one\n2\none\naaa\n");
  CHECK(has(one.output, "     2\t2\n"));
  CHECK(one.files.at(0).size == 14);
}

TEST_CASE("texts that are made to be searched slowly are not") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("f"), std::string(2U << 20U, 'a'));

  const BackendOutcome none = files->str_replace({"f", std::string(256U << 10U, 'a') + "b", ""});
  const BackendOutcome many = files->str_replace({"f", std::string(256U << 10U, 'a'), ""});

  CHECK(has(none.output, "0 times"));
  CHECK(has(many.output, "at least 100 times"));
}

TEST_CASE("a file that changed since it was viewed is not edited blindly") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("f"), "alpha beta\n");
  REQUIRE(succeeded(files->view("f", {}, kTestOutputBytes)));
  Workspace::put(work.root("f"), "alpha gamma beta\n");

  const BackendOutcome stale = files->str_replace({"f", "alpha", "x"});

  CHECK_FALSE(succeeded(stale));
  CHECK(has(stale.output, "has changed since"));
  CHECK(Workspace::get(work.root("f")) == "alpha gamma beta\n");

  REQUIRE(succeeded(files->view("f", {}, kTestOutputBytes)));
  CHECK(succeeded(files->str_replace({"f", "alpha", "x"})));
  CHECK(succeeded(files->str_replace({"f", "x", "y"})));  // its own edits are not somebody else's
}

TEST_CASE("a read root is read and never written") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.reference("r"), "text\n");

  CHECK(succeeded(files->view(work.reference("r"), {}, kTestOutputBytes)));
  const BackendOutcome made = files->create_file({work.reference("new"), "x"});
  const BackendOutcome edited = files->str_replace({work.reference("r"), "text", "x"});

  CHECK_FALSE(succeeded(made));
  CHECK(has(made.output, work.root("").substr(0, work.root("").size() - 1)));  // names the root
  CHECK_FALSE(succeeded(edited));
  CHECK(Workspace::get(work.reference("r")) == "text\n");
}

TEST_CASE("protected names are readable and refused for writes, there or not, at any depth") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root(".git/config"), "[core]\n");

  CHECK(succeeded(files->view(".git/config", {}, kTestOutputBytes)));
  CHECK_FALSE(succeeded(files->str_replace({".git/config", "core", "x"})));
  for (const char* path : {".git/hooks/pre-commit", ".pawl/settings.json", ".mcp.json", ".git",
                           "sub/.git/config", "a/../.pawl/x", ".git//hooks/x", "./.mcp.json"}) {
    const BackendOutcome outcome = files->create_file({path, "x", FileWrite::Overwrite::yes});
    CHECK_MESSAGE(has(outcome.output, "protected"), path);
  }
  CHECK(succeeded(files->create_file({".git/info/exclude", "x"})));
  CHECK(Workspace::get(work.root(".git/config")) == "[core]\n");
}

TEST_CASE("open_directory gives a descriptor beneath the roots only") {
  const Workspace work;
  const auto files = work.open();
  std::filesystem::create_directory(work.root("d"));
  std::filesystem::create_directory_symlink(work.outside(""), work.root("out"));

  const auto opened = files->open_directory("d");
  REQUIRE(opened);
  struct stat by_descriptor{};
  struct stat by_name{};
  REQUIRE(::fstat(*opened, &by_descriptor) == 0);
  REQUIRE(::stat(work.root("d").c_str(), &by_name) == 0);
  CHECK(by_descriptor.st_ino == by_name.st_ino);
  ::close(*opened);
  CHECK_FALSE(files->open_directory("out"));
  CHECK_FALSE(files->open_directory(".."));
  CHECK_FALSE(files->open_directory("/"));
}

}  // namespace
}  // namespace pawl::backend
