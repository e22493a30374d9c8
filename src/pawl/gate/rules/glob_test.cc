#include "pawl/gate/rules/glob.h"

#include <doctest/doctest.h>

#include <vector>

namespace pawl {
namespace {

struct Case {
  const char* pattern;
  const char* text;
  bool matches;
};

TEST_CASE("globs match whole names") {
  const Case cases[] = {
      {"bash", "bash", true},     {"bash", "bash2", false},
      {"bash", "abash", false},   {"*", "", true},
      {"*", "anything", true},    {"", "", true},
      {"", "a", false},           {"?", "", false},
      {"?", "a", true},           {"mcp__*", "mcp__x", true},
      {"mcp__*", "mcp_x", false}, {"*__delete", "a__delete", true},
      {"a*b*c", "aXbXbXc", true}, {"a*b*c", "aXbXbX", false},
      {"a**c", "ac", true},       {"rm*", "rm", true},
      {"[ab]", "a", false},       {"[ab]", "[ab]", true},
      {"\\*", "*", false},        {"*?", "", false},
      {"*?", "x", true},
  };
  for (const Case& one : cases) {
    INFO(std::string(one.pattern) << " on " << std::string(one.text));
    CHECK(glob_matches(one.pattern, one.text) == one.matches);
  }
}

TEST_CASE("a pattern of many stars stays fast") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  const std::string text(4000, 'a');
  CHECK(glob_matches(pattern, text));
  CHECK_FALSE(glob_matches(pattern + "b", text));
}

TEST_CASE("one of several is enough, none of none is not") {
  const std::vector<std::string> patterns = {"view", "mcp__*"};
  CHECK(any_glob_matches(patterns, "mcp__x"));
  CHECK_FALSE(any_glob_matches(patterns, "bash"));
  CHECK_FALSE(any_glob_matches({}, "bash"));
}

}  // namespace
}  // namespace pawl
