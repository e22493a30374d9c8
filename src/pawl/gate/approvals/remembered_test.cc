#include "pawl/gate/approvals/remembered.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

RememberedApproval approval_of(const std::string& what) {
  return {sha256(what), "/srv", "bash", what, "ann", 7};
}

TEST_CASE("approvals for always are kept, listed once, and taken back") {
  const TempDirectory directory;
  CHECK(load_remembered(directory.path())->empty());
  REQUIRE(remember_approval(directory.path(), approval_of("a")));
  REQUIRE(remember_approval(directory.path(), approval_of("b")));
  REQUIRE(remember_approval(directory.path(), approval_of("a")));
  CHECK(*load_remembered(directory.path()) ==
        std::vector<RememberedApproval>{approval_of("b"), approval_of("a")});
  struct stat info{};
  REQUIRE(::stat((directory / "remembered.jsonl").c_str(), &info) == 0);
  CHECK((info.st_mode & 077U) == 0);

  CHECK_FALSE(forget_approval(directory.path(), ""));
  CHECK_FALSE(forget_approval(directory.path(), "zz"));
  REQUIRE(forget_approval(directory.path(), approval_of("b").id()));
  CHECK(*load_remembered(directory.path()) == std::vector<RememberedApproval>{approval_of("a")});
}

TEST_CASE("a damaged file is an error that names it") {
  const TempDirectory directory;
  REQUIRE(remember_approval(directory.path(), approval_of("a")));
  std::ofstream(directory / "remembered.jsonl", std::ios::app) << "x";
  const auto all = load_remembered(directory.path());
  REQUIRE_FALSE(all);
  CHECK(all.error().message.find("remembered.jsonl: line 2") != std::string::npos);
  CHECK_FALSE(remember_approval(directory.path(), approval_of("b")));
}

}  // namespace
}  // namespace pawl
