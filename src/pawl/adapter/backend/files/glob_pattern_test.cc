#include "pawl/adapter/backend/files/glob_pattern.h"

#include <doctest/doctest.h>

namespace pawl::backend {
namespace {

bool matches(std::string_view pattern, std::string_view path) {
  const auto compiled = GlobPattern::compile(pattern);
  REQUIRE_MESSAGE(compiled, compiled.error().message);
  return compiled->matches(path);
}

TEST_CASE("stars, question marks and sets stay within a name") {
  CHECK(matches("*.cc", "a.cc"));
  CHECK_FALSE(matches("*.cc", "d/a.cc"));
  CHECK_FALSE(matches("*.cc", "a.cc.o"));
  CHECK(matches("a?c", "abc"));
  CHECK_FALSE(matches("a?c", "ac"));
  CHECK(matches("[a-c]1", "b1"));
  CHECK_FALSE(matches("[!a-c]1", "b1"));
  CHECK(matches("[]]", "]"));
  CHECK(matches("[x", "[x"));
  CHECK(matches("\\*", "*"));
  CHECK_FALSE(matches("\\*", "a"));
  CHECK(matches("*a*b*c*", "xxaxxbxxcxx"));
  CHECK_FALSE(matches("*a*b*c*", "xxaxxcxxbxx"));
}

TEST_CASE("two stars are any number of directories") {
  CHECK(matches("**/*.cc", "a.cc"));
  CHECK(matches("**/*.cc", "d/e/a.cc"));
  CHECK(matches("src/**", "src/a/b"));
  CHECK(matches("src/**/b/*.h", "src/b/x.h"));
  CHECK(matches("src/**/b/*.h", "src/a/b/c/b/x.h"));
  CHECK_FALSE(matches("src/**/b/*.h", "src/b/c/x.h"));
}

TEST_CASE("braces are alternatives, also nested and with slashes") {
  CHECK(matches("*.{h,cc}", "a.h"));
  CHECK(matches("{a,b/{c,d}}/*", "b/d/x"));
  CHECK_FALSE(matches("{a,b/{c,d}}/*", "b/x"));
  CHECK(matches("a{,b}", "a"));
}

TEST_CASE("a leading dot must be written") {
  CHECK_FALSE(matches("*", ".hidden"));
  CHECK_FALSE(matches("**/x", ".git/x"));
  CHECK(matches(".*", ".hidden"));
  CHECK(matches(".github/**/*.yml", ".github/w/a.yml"));
}

TEST_CASE("what cannot be meant, or costs too much, is refused") {
  CHECK_FALSE(GlobPattern::compile(""));
  CHECK_FALSE(GlobPattern::compile("/etc/*"));
  CHECK_FALSE(GlobPattern::compile("../*"));
  CHECK_FALSE(GlobPattern::compile("{a,b"));
  CHECK_FALSE(GlobPattern::compile(std::string(kGlobBytesMax + 1, 'a')));
  std::string braces;
  for (int i = 0; i < 30; ++i) braces += "{a,b}";
  CHECK_FALSE(GlobPattern::compile(braces));
  std::string stars;
  for (int i = 0; i < 100; ++i) stars += "*a";
  CHECK_FALSE(matches(stars + "b", std::string(255, 'a')));  // and soon
}

TEST_CASE("a pattern without a slash is for names") {
  CHECK(GlobPattern::compile("*.{h,cc}")->is_name());
  CHECK(GlobPattern::compile("*.{h,cc}")->matches_name("x.cc"));
  CHECK_FALSE(GlobPattern::compile("src/*.h")->is_name());
}

}  // namespace
}  // namespace pawl::backend
