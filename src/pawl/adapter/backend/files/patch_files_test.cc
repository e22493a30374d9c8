#include "pawl/adapter/backend/files/patch_files.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

BackendOutcome patched(const std::shared_ptr<RootedFiles>& files, const std::string& text) {
  return files->file_request(PatchText{text}, kTestOutputBytes);
}

TEST_CASE("a patch adds, changes, moves and removes files at once") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("a"), "one\ntwo\n");
  Workspace::put(work.root("gone"), "x\n");
  Workspace::put(work.root("old"), "m\n");
  std::filesystem::permissions(work.root("old"), std::filesystem::perms(0755));

  const BackendOutcome outcome = patched(files,
                                         "*** Begin Patch\n"
                                         "*** Update File: a\n@@\n-two\n+2\n"
                                         "*** Delete File: gone\n"
                                         "*** Update File: old\n*** Move to: sub/new\n@@\n-m\n+n\n"
                                         "*** Add File: made\n+x\n"
                                         "*** End Patch\n");

  CHECK(outcome.output == "M a\nD gone\nR old -> sub/new\nA made\n");
  CHECK(work.names() == std::vector<std::string>{"a", "made", "sub", "sub/new"});
  CHECK(Workspace::get(work.root("a")) == "one\n2\n");
  CHECK(Workspace::get(work.root("sub/new")) == "n\n");
  CHECK(std::filesystem::status(work.root("sub/new")).permissions() ==
        std::filesystem::perms(0755));
  CHECK(outcome.files == std::vector<FileRef>{{"a", 6, sha256("one\n2\n")},
                                              {"sub/new", 2, sha256("n\n")},
                                              {"made", 2, sha256("x\n")}});
  CHECK(succeeded(files->str_replace({"a", "one", "1"})));  // not a stale edit
}

TEST_CASE("one file that does not fit leaves all others as they were") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("a"), "one\n");
  Workspace::put(work.root("b"), "two\n");
  const std::string good = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n";
  const std::string add = "--- /dev/null\n+++ b/new/c\n@@ -0,0 +1 @@\n+c\n";

  for (const std::string& bad :
       {std::string("--- a/b\n+++ b/b\n@@ -1 +1 @@\n-three\n+3\n"),
        std::string("--- a/none\n+++ b/none\n@@ -1 +1 @@\n-three\n+3\n"),
        std::string("--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-three\n"),
        std::string("--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+exists\n"),
        std::string("--- /dev/null\n+++ b/.mcp.json\n@@ -0,0 +1 @@\n+x\n"),
        std::string("--- /dev/null\n+++ b/../outside/x\n@@ -0,0 +1 @@\n+x\n"),
        std::string("--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+x\n"), std::string("garbage\n")}) {
    const BackendOutcome outcome = patched(files, good + add + bad);
    CHECK_FALSE(succeeded(outcome));
    CHECK(has(outcome.output, "nothing was changed"));
    CHECK(work.names() == std::vector<std::string>{"a", "b"});
    CHECK(Workspace::get(work.root("a")) == "one\n");
    CHECK(Workspace::get(work.root("b")) == "two\n");
  }
}

TEST_CASE("a removal with lines must have all of them") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("b"), "two\nthree\n");

  CHECK_FALSE(succeeded(patched(files, "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\n")));
  CHECK(Workspace::get(work.root("b")) == "two\nthree\n");
  CHECK(succeeded(patched(files, "--- a/b\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-two\n-three\n")));
  CHECK(work.names().empty());
}

}  // namespace
}  // namespace pawl::backend
