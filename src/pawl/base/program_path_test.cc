#include "pawl/base/program_path.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("a program is looked for in the directories of PATH, in their order") {
  CHECK(program_candidates("ls", "/usr/bin:/bin") == Texts{"/usr/bin/ls", "/bin/ls"});
  CHECK(program_candidates("bin/ls", "/usr/bin") == Texts{"bin/ls"});
  CHECK(program_candidates("ls", "").empty());
}

TEST_CASE("an empty entry of PATH is not the current directory") {
  CHECK(program_candidates("ls", ":/bin::") == Texts{"/bin/ls"});
}

TEST_CASE("no more than so many directories of PATH are looked at") {
  std::string path;
  for (std::size_t i = 0; i <= kPathEntriesMax; ++i) path += "/d:";
  CHECK(program_candidates("ls", path).size() == kPathEntriesMax);
}

TEST_CASE("PATH is the first variable of exactly that name") {
  CHECK(find_path({"A=1", "PATH=/x:/y", "B=2", "PATH=/z"}) == "/x:/y");
  CHECK(find_path({"MYPATH=/x"}).empty());
}

TEST_CASE("arrays for exec end with a null pointer") {
  const Texts texts = {"a", "b"};
  const auto pointers = exec_pointers(texts);
  REQUIRE(pointers.size() == 3);
  CHECK(pointers[1] == texts[1].c_str());
  CHECK(pointers[2] == nullptr);
}

}  // namespace
}  // namespace pawl
