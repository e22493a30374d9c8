#include "pawl/adapter/backend/sandbox/protected_places.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

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

TEST_CASE("nothing is made for names that do not exist") {
  const TempDirectory directory;
  SandboxPlan plan = plan_for(directory, {".pawl", ".mcp.json", ".cargo/credentials"});
  plan.hidden_names = {".ssh"};
  plan.protected_places = {directory / "scripts/check.sh"};
  ProtectedPlaces places;
  REQUIRE(places.find(plan));
  CHECK(places.places().empty());
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("what exists is held together with its parents, and a changed name is noticed") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / ".cargo");
  std::filesystem::create_directories(directory / ".ssh");
  std::ofstream(directory / ".cargo/credentials") << "";
  std::ofstream(directory / ".envrc") << "";
  SandboxPlan plan = plan_for(directory, {".cargo/config", ".envrc"});
  plan.hidden_names = {".ssh", ".cargo/credentials"};
  ProtectedPlaces places;
  REQUIRE(places.find(plan));
  const auto& found = places.places();
  REQUIRE(found.size() == 4);
  CHECK(found[0].path == directory / ".cargo");
  CHECK(found[0].hold == Hold::in_place);
  CHECK(found[1].path == directory / ".cargo/credentials");
  CHECK(found[1].hold == Hold::hidden);
  CHECK(found[2].path == directory / ".envrc");
  CHECK(found[2].hold == Hold::read_only);
  CHECK(found[3].path == directory / ".ssh");
  CHECK(found[3].is_directory);
  CHECK(found[2].is_unchanged());
  std::ofstream(directory / ".envrc") << "in place";
  CHECK(found[2].is_unchanged());
  std::ofstream(directory / "new") << "";
  std::filesystem::rename(directory / "new", directory / ".envrc");
  CHECK_FALSE(found[2].is_unchanged());
}

TEST_CASE("links are refused wherever they are on the way") {
  const TempDirectory directory;
  const TempDirectory elsewhere;
  std::filesystem::create_symlink(elsewhere.path(), directory / ".git");
  ProtectedPlaces places;
  const auto made = places.find(plan_for(directory, {".git/hooks"}));
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("symbolic link") != std::string::npos);
}

TEST_CASE("a file where a directory is meant is held itself") {
  const TempDirectory directory;
  std::ofstream(directory / ".git") << "gitdir: elsewhere\n";
  ProtectedPlaces places;
  REQUIRE(places.find(plan_for(directory, {".git/hooks"})));
  REQUIRE(places.places().size() == 1);
  CHECK(places.places()[0].path == directory / ".git");
  CHECK(places.places()[0].hold == Hold::read_only);
}

TEST_CASE("directories on the way to a place beneath a root are held, and may be no links") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "a/project");
  std::ofstream(directory / "a/.envrc") << "";
  SandboxPlan plan = plan_for(directory, {".envrc"});
  plan.working_directory = directory / "a/project";
  ProtectedPlaces places;
  REQUIRE(places.find(plan));
  REQUIRE(places.places().size() == 3);
  CHECK(places.places()[0].path == directory / "a");
  CHECK(places.places()[0].hold == Hold::in_place);
  CHECK(places.places()[1].path == directory / "a/.envrc");
  std::filesystem::create_directory_symlink("a", directory / "link");
  plan.working_directory = directory / "link/project";
  ProtectedPlaces refused;
  const Status made = refused.find(plan);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("link is a symbolic link") != std::string::npos);
}

TEST_CASE("what a denied root holds is not looked at, and a read root hides its secrets") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "work/private/.ssh");
  std::filesystem::create_directories(directory / "read/.ssh");
  SandboxPlan plan = plan_for(directory, {});
  plan.working_directory = directory / "work";
  plan.write_roots = {directory / "work"};
  plan.read_roots = {directory / "read"};
  plan.deny_roots = {directory / "work/private"};
  plan.hidden_names = {".ssh"};
  plan.hidden_places = {directory / "work/private/.ssh"};
  ProtectedPlaces places;
  REQUIRE(places.find(plan));
  REQUIRE(places.places().size() == 1);
  CHECK(places.places()[0].path == directory / "read/.ssh");
  CHECK(access_at(plan, directory / "work/private/x") == RootAccess::deny);
  CHECK(access_at(plan, directory / "work/x") == RootAccess::write);
  CHECK(access_at(plan, directory.path()) == RootAccess::none);
}

}  // namespace
}  // namespace pawl::sandbox
