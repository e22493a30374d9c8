#include "pawl/adapter/backend/sandbox/placeholders.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/support/temp_directory.h"

namespace pawl::sandbox {
namespace {

using Hold = ProtectedPlace::Hold;

SandboxPlan plan_for(const TempDirectory& directory, std::vector<std::string> names) {
  SandboxPlan plan;
  plan.working_directory = directory.path();
  plan.write_roots = {directory.path()};
  plan.protected_names = std::move(names);
  return plan;
}

TEST_CASE("absent names are made, and gone when the last one who needs them is") {
  const TempDirectory directory;
  const SandboxPlan plan = plan_for(directory, {".pawl", ".mcp.json", ".git/hooks"});
  auto one = std::make_unique<Placeholders>();
  REQUIRE(one->make(plan));
  CHECK(std::filesystem::is_directory(directory / ".pawl"));
  CHECK(std::filesystem::is_regular_file(directory / ".mcp.json"));
  CHECK(std::filesystem::is_directory(directory / ".git"));
  REQUIRE(one->places().size() == 3);
  CHECK(one->places()[2].path == directory / ".git");  // all that is absent beneath it, too
  CHECK(one->places()[2].hold == Hold::read_only);
  auto two = std::make_unique<Placeholders>();
  REQUIRE(two->make(plan));
  one.reset();
  CHECK(std::filesystem::exists(directory / ".pawl"));
  two.reset();
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("what exists stays, and is held together with its parents") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / ".git/hooks");
  std::ofstream(directory / ".envrc") << "";
  {
    Placeholders placeholders;
    REQUIRE(placeholders.make(plan_for(directory, {".git/hooks", ".git/config", ".envrc"})));
    const auto& places = placeholders.places();
    REQUIRE(places.size() == 4);
    CHECK(places[0].path == directory / ".git");
    CHECK(places[0].hold == Hold::in_place);
    CHECK(places[1].path == directory / ".git/hooks");
    CHECK(places[1].hold == Hold::read_only);
    CHECK(places[2].path == directory / ".git/config");
    CHECK(places[3].path == directory / ".envrc");
  }
  CHECK(std::filesystem::exists(directory / ".git/hooks"));
  CHECK_FALSE(std::filesystem::exists(directory / ".git/config"));
  CHECK(std::filesystem::exists(directory / ".envrc"));
}

TEST_CASE("links are refused wherever they are on the way") {
  const TempDirectory directory;
  const TempDirectory elsewhere;
  std::filesystem::create_symlink(elsewhere.path(), directory / ".git");
  Placeholders placeholders;
  const auto made = placeholders.make(plan_for(directory, {".git/hooks"}));
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("symbolic link") != std::string::npos);
  CHECK(std::filesystem::is_empty(elsewhere.path()));
}

TEST_CASE("a file where a directory is meant is held itself") {
  const TempDirectory directory;
  std::ofstream(directory / ".git") << "gitdir: elsewhere\n";
  Placeholders placeholders;
  REQUIRE(placeholders.make(plan_for(directory, {".git/hooks"})));
  REQUIRE(placeholders.places().size() == 1);
  CHECK(placeholders.places()[0].path == directory / ".git");
  CHECK(placeholders.places()[0].hold == Hold::read_only);
}

TEST_CASE("directories on the way to a place beneath a root are held, and may be no links") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "a/project");
  SandboxPlan plan = plan_for(directory, {});
  plan.working_directory = directory / "a/project";
  {
    Placeholders placeholders;
    REQUIRE(placeholders.make(plan));
    REQUIRE(placeholders.places().size() == 2);
    CHECK(placeholders.places()[0].path == directory / "a");
    CHECK(placeholders.places()[0].hold == Hold::in_place);
  }
  std::filesystem::create_directory_symlink("a", directory / "link");
  plan.working_directory = directory / "link/project";
  Placeholders refused;
  const Status made = refused.make(plan);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("link is a symbolic link") != std::string::npos);
}

TEST_CASE("what holds the place of git's commondir lets git work") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / ".git");
  {
    Placeholders placeholders;
    REQUIRE(placeholders.make(plan_for(directory, {".git/commondir"})));
    std::string text;
    std::getline(std::ifstream(directory / ".git/commondir"), text);
    CHECK(text == ".");
  }
  CHECK_FALSE(std::filesystem::exists(directory / ".git/commondir"));
}

}  // namespace
}  // namespace pawl::sandbox
