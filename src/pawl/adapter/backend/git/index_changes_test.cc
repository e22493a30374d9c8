#include "pawl/adapter/backend/git/index_changes.h"

#include <doctest/doctest.h>

namespace pawl::git {
namespace {

std::string line(const std::string& mode, char object, const std::string& rest) {
  return mode + " " + std::string(40, object) + " " + rest + std::string(1, '\0');
}
std::string removal(const std::string& path) {
  return "0 " + std::string(40, '0') + "\t" + path + std::string(1, '\0');
}
const auto kNever = [](std::string_view) { return false; };

TEST_CASE("only what differs is told, removals first") {
  const std::string same = line("100644", 'a', "0\tsame");
  const std::string from =
      line("100644", 'a', "0\tchanged") + line("100644", 'a', "0\tgone") + same;
  const std::string to =
      line("100755", 'b', "0\tchanged") + line("100644", 'c', "0\tgone/new") + same;
  const auto changes = index_changes(from, to, kNever);
  REQUIRE(changes);
  CHECK(changes->input == removal("gone") + removal("changed") + line("100755", 'b', "0\tchanged") +
                              line("100644", 'c', "0\tgone/new"));
  CHECK(changes->objects == std::vector{std::string(40, 'b'), std::string(40, 'c')});
  CHECK(index_changes(to, to, kNever)->input.empty());
}

TEST_CASE("a submodule is added only where that is allowed") {
  const std::string link = line("160000", 'd', "0\tsub");
  CHECK(index_changes("", link, kNever)->left_out == std::vector<std::string>{"sub"});
  CHECK(index_changes("", link, kNever)->input.empty());
  const auto allowed = index_changes("", link, [](std::string_view path) { return path == "sub"; });
  CHECK(allowed->input == link);
  CHECK(allowed->objects.empty());
  CHECK(index_changes(link, link, kNever)->left_out.empty());
  CHECK(gitlinks_in(link + line("100644", 'a', "0\tx")) == std::vector<std::string>{"sub"});
}

TEST_CASE("the lines of a conflict belong together") {
  const std::string conflict =
      line("100644", 'a', "1\tx") + line("100644", 'b', "2\tx") + line("100644", 'c', "3\tx");
  const auto changes = index_changes(conflict, line("100644", 'd', "0\tx"), kNever);
  CHECK(changes->input == removal("x") + line("100644", 'd', "0\tx"));
}

TEST_CASE("lines that are not git's are refused") {
  CHECK(!index_changes("", "100644 x", kNever));
  CHECK(!index_changes("", line("100644", 'a', "0 no tab"), kNever));
}

}  // namespace
}  // namespace pawl::git
