#include "pawl/adapter/backend/session/left_names.h"

#include <filesystem>

#include "pawl/adapter/backend/sandbox/taken_names.h"
#include "pawl/adapter/backend/session/attempts_test_support.h"

namespace pawl::backend {
namespace {

using contract::holds;
using contract::write_file;

TEST_CASE("what killed sessions left is found at any depth, also where a root is gone") {
  const TempDirectory data;
  const TempDirectory work;
  const std::string taken = data / "taken";
  std::filesystem::create_directories(work / "sub/deep");
  write_file(work / "sub/.envrc", "the user's");
  write_file(work / "sub/deep/.envrc", "evil");
  const AbsentNames absent{{}, {work / "gone", work.path()}, {".envrc"}, {work / "sub/.envrc"}};
  {
    REQUIRE(AbsentNote::write(TakenNames(taken, "r"), "r", absent));
  }
  const auto said = take_left_names(taken);
  REQUIRE(said.size() == 1);
  CHECK(holds(said[0], work / "sub/deep/.envrc is a protected name"));
  CHECK(std::filesystem::exists(work / "sub/.envrc"));
  CHECK(std::filesystem::exists(taken + "/r/1/.envrc"));
  CHECK(take_left_names(taken).empty());
}

}  // namespace
}  // namespace pawl::backend
