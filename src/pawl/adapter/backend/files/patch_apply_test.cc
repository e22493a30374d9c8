#include "pawl/adapter/backend/files/patch_apply.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

std::string applied(const std::string& text, const std::string& patch) {
  const auto files = read_patch(patch);
  REQUIRE_MESSAGE(files, files.error().message);
  const auto made = apply_hunks(text, files->front());
  return made ? *made : "ERROR " + made.error().message;
}

std::string unified(const std::string& hunks) {
  return "--- f\n+++ f\n" + hunks;
}
std::string envelope(const std::string& hunks) {
  return "*** Begin Patch\n*** Update File: f\n" + hunks + "*** End Patch\n";
}

TEST_CASE("unified hunks change what they name") {
  CHECK(applied("a\nb\nc\n", unified("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")) == "a\nB\nc\n");
  CHECK(applied("a\nb\n", unified("@@ -0,0 +1 @@\n+x\n")) == "x\na\nb\n");
  CHECK(applied("a\nb\n", unified("@@ -1,0 +2 @@\n+x\n")) == "a\nx\nb\n");
  CHECK(applied("a\n", unified("@@ -1 +0,0 @@\n-a\n")) == "");
  CHECK(applied("1\n2\n3\n4\n5\n", unified("@@ -1 +1,2 @@\n-1\n+1a\n+1b\n@@ -5 +6 @@\n-5\n+6\n")) ==
        "1a\n1b\n2\n3\n4\n6\n");
}

TEST_CASE("a hunk moves to the only place that fits, and is refused where there are two") {
  CHECK(applied("x\nx\na\nb\n", unified("@@ -1,2 +1,2 @@\n a\n-b\n+B\n")) == "x\nx\na\nB\n");
  CHECK(has(applied("a\nb\nx\na\nb\n", unified("@@ -9,2 +9,2 @@\n a\n-b\n+B\n")),
            "f: hunk 1 (patch line 3): its lines occur 2 times, at 1 4"));
}

TEST_CASE("a context line that differs in one byte is an error that shows both") {
  CHECK(has(applied("a\nb \nc\n", unified("@@ -1,3 +1,3 @@\n a\n b\n-c\n+C\n")),
            "hunk 1 (patch line 3): line 2 of the file is `b `, the patch has `b`"));
  CHECK(has(applied("x\n", unified("@@ -1 +1 @@\n-a\n+b\n")), "`a` is not in the file"));
  CHECK(has(applied("a\n", unified("@@ -5,0 +6 @@\n+b\n")), "there is no line 5"));
}

TEST_CASE("line ends are bytes like others") {
  CHECK(applied("a\r\nb\r\n", unified("@@ -1 +1 @@\n-a\r\n+A\r\n")) == "A\r\nb\r\n");
  CHECK(has(applied("a\r\n", unified("@@ -1 +1 @@\n-a\n+A\n")), "ERROR"));
  const std::string no_newline = "\\ No newline at end of file\n";
  CHECK(applied("a\nb", unified("@@ -2 +2 @@\n-b\n" + no_newline + "+c\n" + no_newline)) == "a\nc");
  CHECK(applied("a\nb", unified("@@ -2 +2 @@\n-b\n" + no_newline + "+b\n")) == "a\nb\n");
  CHECK(has(applied("a\nb", unified("@@ -2 +2 @@\n-b\n+c\n")), "ERROR"));
}

TEST_CASE("hunks of an envelope are found by their lines and anchors") {
  CHECK(applied("a\nb\nc\n", envelope("@@\n a\n-b\n+B\n")) == "a\nB\nc\n");
  CHECK(applied("f() {\n  x\n}\ng() {\n  x\n}\n", envelope("@@ g() {\n-  x\n+  y\n")) ==
        "f() {\n  x\n}\ng() {\n  y\n}\n");
  CHECK(has(applied("x\ny\nx\n", envelope("@@\n-x\n+z\n")), "occur 2 times, at 1 3"));
  CHECK(applied("x\ny\nx\n", envelope("@@\n-x\n+z\n*** End of File\n")) == "x\ny\nz\n");
  CHECK(applied("a\n", envelope("@@\n+b\n")) == "a\nb\n");
  CHECK(applied("a\nb\n", envelope("@@ a\n+x\n")) == "a\nx\nb\n");
  CHECK(applied("a\nb", envelope("@@\n-b\n+c\n")) == "a\nc");
  CHECK(has(applied("a\n", envelope("@@ none\n-a\n+b\n")), "behind @@ is not in the file"));
  CHECK(has(applied("a\nb\n", envelope("@@\n-b\n+x\n@@\n-a\n+y\n")), "hunk 2"));
}

}  // namespace
}  // namespace pawl::backend
