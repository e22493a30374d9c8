#include "pawl/adapter/backend/session/second_names.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::backend {
namespace {

namespace fs = std::filesystem;
using Hold = sandbox::ProtectedPlace::Hold;

sandbox::ProtectedPlace place_at(const std::string& path, Hold hold) {
  struct stat status{};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return {path, hold, S_ISDIR(status.st_mode), status.st_dev, status.st_ino};
}

TEST_CASE("the second names of protected files are found wherever they are in the tree") {
  const TempDirectory directory;
  const std::string root = fs::canonical(directory.path()).string();
  fs::create_directories(root + "/.ssh");
  fs::create_directories(root + "/node_modules/x");
  for (const char* name : {"/.envrc", "/.ssh/key", "/other"}) std::ofstream(root + name) << name;
  fs::create_hard_link(root + "/.envrc", root + "/node_modules/x/notes");
  fs::create_hard_link(root + "/.ssh/key", root + "/.ssh/same");
  fs::create_hard_link(root + "/.ssh/key", root + "/backup");
  fs::create_hard_link(root + "/other", root + "/another");
  sandbox::SandboxPlan plan;
  plan.write_roots = {root};

  const SecondNames found = find_second_names(
      plan, {place_at(root + "/.envrc", Hold::read_only), place_at(root + "/.ssh", Hold::hidden),
             place_at(root + "/node_modules", Hold::in_place)});

  CHECK(found.read_only == std::vector<std::string>{root + "/node_modules/x/notes"});
  CHECK(found.hidden == std::vector<std::string>{root + "/backup"});
  CHECK(found.unfound.empty());
}

TEST_CASE("a second name outside of the write roots is nobody's way in") {
  const TempDirectory directory;
  const TempDirectory elsewhere;
  const std::string root = fs::canonical(directory.path()).string();
  std::ofstream(root + "/.envrc") << "x";
  std::error_code other_disk;
  fs::create_hard_link(root + "/.envrc", elsewhere / "notes", other_disk);
  sandbox::SandboxPlan plan;
  plan.write_roots = {root};
  const SecondNames found = find_second_names(plan, {place_at(root + "/.envrc", Hold::read_only)});
  CHECK(found.read_only.empty());
  CHECK(found.unfound.empty());
}

}  // namespace
}  // namespace pawl::backend
