#include "pawl/surface/cli/line_diff.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("a diff shows the lines that changed, and some around them") {
  CHECK(shown_diff("a\nb\nc\n", "a\nx\nc\n") == "@@ line 1\n a\n-b\n+x\n c\n");
  CHECK(shown_diff("", "new\n") == "@@ line 1\n+new\n");
  CHECK(shown_diff("old\n", "") == "@@ line 1\n-old\n");
  CHECK(shown_diff("same\n", "same\n").empty());
  CHECK(shown_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nx\n9\n") ==
        "@@ line 6\n 6\n 7\n 8\n+x\n 9\n");
  CHECK(shown_diff("a\nb\nc\nd\n", "b\nc\ne\nd\n") == "@@ line 1\n-a\n b\n c\n+e\n d\n");
}

TEST_CASE("a diff shows what cannot be seen, and a missing last line break") {
  const std::string shown = shown_diff("a\n", "a\n\x1b[2Jb\xe2\x80\xae");
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK(shown.find("\xe2\x80\xae") == std::string::npos);
  CHECK(shown.find("(no line break at the end)") != std::string::npos);
}

TEST_CASE("texts of very many lines are compared as a whole") {
  std::string before;
  std::string after;
  for (int i = 0; i < 3000; ++i) {
    before += "old " + std::to_string(i) + "\n";
    after += "new " + std::to_string(i) + "\n";
  }
  const std::string shown = shown_diff(before, after);
  CHECK(shown.find("-old 0\n-old 1\n") != std::string::npos);
  CHECK(shown.find("-old 2999\n+new 0\n") != std::string::npos);
}

}  // namespace pawl
