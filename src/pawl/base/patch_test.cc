#include <doctest/doctest.h>

#include "pawl/base/patch_reader.h"

namespace pawl {
namespace {

using Kind = PatchLine::Kind;

std::string error_of(std::string_view patch) {
  const auto read = read_patch(patch);
  return read ? std::string("no error") : read.error().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("an envelope adds, updates, moves and deletes") {
  const auto files = read_patch(
      "*** Begin Patch\n"
      "*** Add File: new.txt\n"
      "+one\n"
      "+\n"
      "*** Update File: src/a.cc\n"
      "*** Move to: src/b.cc\n"
      "@@ void f() {\n"
      "   int x;\n"
      "-  int y;\n"
      "+  int z;\n"
      "@@\n"
      "-last\n"
      "*** End of File\n"
      "*** Delete File: old.txt\n"
      "*** End Patch\n");
  REQUIRE(files);
  REQUIRE(files->size() == 3);
  CHECK((*files)[0] == FilePatch{FilePatch::Kind::add, "new.txt", {}, "one\n\n", false, {}, 2});
  CHECK((*files)[1].move_to == "src/b.cc");
  REQUIRE((*files)[1].hunks.size() == 2);
  CHECK((*files)[1].hunks[0] == PatchHunk{7,
                                          {},
                                          "void f() {",
                                          false,
                                          {{Kind::context, "  int x;", true},
                                           {Kind::removed, "  int y;", true},
                                           {Kind::added, "  int z;", true}}});
  CHECK((*files)[1].hunks[1].at_end);
  CHECK((*files)[2].kind == FilePatch::Kind::remove);
}

TEST_CASE("an envelope with something wrong says where") {
  CHECK(has(error_of("*** Begin Patch\n*** Add File: a\n+x\n"), "*** End Patch is missing"));
  CHECK(has(error_of("*** Begin Patch\n*** Add File: a\nx\n*** End Patch"), "patch line 3"));
  CHECK(has(error_of("*** Begin Patch\n*** Update File: a\n*** End Patch"), "without a hunk"));
  CHECK(has(error_of("*** Begin Patch\n*** Update File: a\n@@\n x\n*** End Patch"),
            "changes nothing"));
  CHECK(has(error_of("*** Begin Patch\n*** Update File: a\n@@\n*x\n*** End Patch"), "begins with"));
  CHECK(has(error_of("*** Begin Patch\n*** Rename File: a\n*** End Patch"), "expected"));
  CHECK(has(error_of("*** Begin Patch\n*** Delete File: a\n*** End Patch\nrm -r x\n"), "behind"));
  CHECK(has(error_of("*** Begin Patch\n*** Delete File: \n*** End Patch"), "missing"));
  CHECK(has(error_of("*** Begin Patch\n*** Delete File: a\n*** Delete File: a\n*** End Patch"),
            "twice"));
  CHECK(has(error_of("*** Begin Patch\n*** End Patch"), "changes no file"));
}

TEST_CASE("a unified diff of git adds, changes, renames and removes") {
  const auto files = read_patch(
      "From: somebody\n\n - a message\n---\n"
      "diff --git a/a.txt b/a.txt\n"
      "index 1..2 100644\n"
      "--- a/a.txt\n"
      "+++ b/a.txt\n"
      "@@ -1,3 +1,3 @@ heading\n"
      " one\n"
      "-two\n"
      "+2\n"
      "\n"
      "diff --git a/run.sh b/run.sh\n"
      "new file mode 100755\n"
      "--- /dev/null\n"
      "+++ b/run.sh\n"
      "@@ -0,0 +1,2 @@\n"
      "+#!/bin/sh\n"
      "+true\n"
      "\\ No newline at end of file\n"
      "diff --git a/gone b/gone\n"
      "deleted file mode 100644\n"
      "--- a/gone\n"
      "+++ /dev/null\n"
      "@@ -1 +0,0 @@\n"
      "-x\n"
      "diff --git a/from b/to\n"
      "similarity index 100%\n"
      "rename from from\n"
      "rename to to\n"
      "diff --git a/empty b/empty\n"
      "new file mode 100644\n"
      "index 0..0\n"
      "-- \n2.39\n");
  REQUIRE_MESSAGE(files, files.error().message);
  REQUIRE(files->size() == 5);
  CHECK((*files)[0].hunks == std::vector<PatchHunk>{{9,
                                                     1,
                                                     "",
                                                     false,
                                                     {{Kind::context, "one", true},
                                                      {Kind::removed, "two", true},
                                                      {Kind::added, "2", true},
                                                      {Kind::context, "", true}}}});
  CHECK((*files)[1].content == "#!/bin/sh\ntrue");
  CHECK((*files)[1].executable);
  CHECK((*files)[2].kind == FilePatch::Kind::remove);
  CHECK((*files)[2].hunks.size() == 1);
  CHECK((*files)[3].path == "from");
  CHECK((*files)[3].move_to == "to");
  CHECK((*files)[4] == FilePatch{FilePatch::Kind::add, "empty", {}, "", false, {}, 32});
}

TEST_CASE("plain diffs keep their paths, and times behind a tab are dropped") {
  const auto files =
      read_patch("--- dir/x\t2024-01-01\n+++ dir/x\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n");
  REQUIRE(files);
  CHECK(files->front().path == "dir/x");
  CHECK(read_patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")->front().path == "x");
  CHECK(read_patch("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n")->front().path == "a/x");
}

TEST_CASE("a unified diff with something wrong says where") {
  const std::string head = "--- x\n+++ x\n";
  CHECK(has(error_of(head + "@@ -1,2 +1 @@\n-a\n+b\n"), "ends too early"));
  CHECK(has(error_of(head + "@@ -1 +1 @@\n-a\n-b\n+c\n"), "do not fit"));
  CHECK(has(error_of(head + "@@ -1 +1 @@\n-a\n+b\n+c\n"), "patch line 6"));
  CHECK(has(error_of(head + "@@ -1 @@\n-a\n+b\n"), "expected @@"));
  CHECK(has(error_of(head + "@@ -99999999999999999999 +1 @@\n"), "expected @@"));
  CHECK(has(error_of(head), "expected @@"));
  CHECK(has(error_of("--- x\n"), "expected +++"));
  CHECK(has(error_of("--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n"), "two names"));
  CHECK(has(error_of("--- \"a/\\303\"\n+++ x\n"), "quoted"));
  CHECK(has(error_of("@@ -1 +1 @@\n-a\n+b\n"), "a hunk without"));
  CHECK(has(error_of("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"), "mode"));
  CHECK(has(error_of("diff --git a/x b/x\nnew file mode 120000\n"), "regular"));
  CHECK(has(error_of("diff --git a/x b/x\nGIT binary patch\n"), "binary"));
  CHECK(has(error_of("diff --git a/x b/x\ncopy from x\ncopy to y\n"), "copy"));
  CHECK(has(error_of("diff --git a/x b/y\nrename from x\n"), "half"));
  CHECK(has(error_of("diff --git a/x b/x\n"), "nothing is said"));
  CHECK(has(error_of("--- /dev/null\n+++ b/x\n@@ -1 +1,2 @@\n a\n+b\n"), "+ lines only"));
}

TEST_CASE("no patch, and one that is too large") {
  CHECK(has(error_of(""), "changes no file"));
  CHECK(has(error_of("please change the file"), "changes no file"));
  CHECK(has(error_of(std::string(kPatchBytesMax + 1, '\n')), "larger than"));
}

}  // namespace
}  // namespace pawl
