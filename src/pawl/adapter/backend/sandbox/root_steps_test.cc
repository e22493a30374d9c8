#include "pawl/adapter/backend/sandbox/root_steps.h"

#include <doctest/doctest.h>

#include <filesystem>

#include <algorithm>
#include <string_view>

#include "tests/support/temp_directory.h"

namespace pawl::sandbox {
namespace {

using Kind = Step::Kind;

// The place of the first such step; steps.size(): there is none.
std::size_t find(std::vector<Step>& steps, Kind kind, std::string_view target) {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
    return step.kind == kind && step.target == target;
  });
  return static_cast<std::size_t>(found - steps.begin());
}

TEST_CASE("roots are mounted over /tmp, protected names over roots, and the old root goes") {
  const TempDirectory directory;
  SandboxPlan plan;
  plan.working_directory = directory.path();
  plan.write_roots = {directory.path()};
  RootSteps root(plan, {}, {{directory / ".pawl", ProtectedPlace::Hold::read_only}});
  auto& steps = root.steps();
  const std::string inside = "/new" + directory.path();
  const std::size_t temporary = find(steps, Kind::mount, "/new/tmp");
  const std::size_t workspace = find(steps, Kind::bind_held, inside);
  const std::size_t name = find(steps, Kind::mount, inside + "/.pawl");
  const std::size_t held = find(steps, Kind::restrict_mount, inside + "/.pawl");
  const std::size_t detached = find(steps, Kind::detach, ".");
  CHECK(temporary < workspace);
  CHECK(workspace < name);
  CHECK(name < held);
  CHECK(held < detached);
  CHECK(detached < steps.size());
  CHECK(root.rules().front().path == "/");
  CHECK(std::count_if(steps.begin(), steps.end(), [](const Step& step) {
          return step.kind == Kind::open;
        }) == static_cast<std::ptrdiff_t>(root.rules().size()));
}

TEST_CASE("a mount that the host has made is attached instead of bound") {
  const TempDirectory directory;
  SandboxPlan plan;
  plan.working_directory = directory.path();
  plan.write_roots = {directory.path()};
  RootSteps root(plan, {{directory.path(), 77}}, {});
  auto& steps = root.steps();
  const std::size_t attached = find(steps, Kind::attach, "/new" + directory.path());
  REQUIRE(attached < steps.size());
  CHECK(steps[attached].descriptor == 77);
  CHECK(find(steps, Kind::mount, "/new" + directory.path()) == steps.size());
}

TEST_CASE("a mount of the plan is seen at its own place, over what is protected there") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "work/.git");
  std::filesystem::create_directories(directory / "private");
  SandboxPlan plan;
  plan.working_directory = directory / "work";
  plan.write_roots = {directory / "work"};
  using Access = PlanMount::Access;
  plan.mounts = {{directory / "private", directory / "work/.git", Access::write},
                 {directory / "work/.git", "/run/pawl/objects", Access::read}};
  RootSteps root(plan, {}, {{directory / "work/.git", ProtectedPlace::Hold::read_only}});
  auto& steps = root.steps();
  const std::string target = "/new" + (directory / "work/.git");
  const auto over = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
    return step.kind == Kind::mount && step.source == "/old" + (directory / "private");
  });
  REQUIRE(over != steps.end());
  CHECK(over->target == target);
  CHECK(find(steps, Kind::restrict_mount, target) < static_cast<std::size_t>(over - steps.begin()));
  CHECK(find(steps, Kind::make_directory, "/new/run/pawl/objects") < steps.size());
  CHECK(find(steps, Kind::open, directory / "work/.git") < steps.size());
  CHECK(find(steps, Kind::open, "/run/pawl/objects") == steps.size());
}

TEST_CASE("a hidden place is masked, and can be passed through to a root beneath it") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "private/open");
  SandboxPlan plan;
  plan.working_directory = directory.path();
  plan.write_roots = {directory.path(), directory / "private/open"};
  plan.deny_roots = {directory / "private"};
  RootSteps root(plan, {},
                 {{directory / ".ssh", ProtectedPlace::Hold::hidden, true, 0, 0},
                  {directory / ".netrc", ProtectedPlace::Hold::hidden, false, 0, 0}});
  auto& steps = root.steps();
  const std::string inside = "/new" + directory.path();
  const auto data_of = [&](const std::string& target) {
    const std::size_t at = find(steps, Kind::mount, target);
    return at == steps.size() || steps[at].data == nullptr ? "" : std::string(steps[at].data);
  };
  CHECK(data_of(inside + "/private") == "size=64k,mode=0111");
  CHECK(data_of(inside + "/.ssh") == "size=64k,mode=0000");
  CHECK(find(steps, Kind::mount, inside + "/private") <
        find(steps, Kind::bind_held, inside + "/private/open"));
  const std::size_t file = find(steps, Kind::mount, inside + "/.netrc");
  REQUIRE(file < steps.size());
  CHECK(std::string_view(steps[file].source) == "/mask");
}

TEST_CASE("names of the network come from the host only with its network") {
  SandboxPlan plan;
  plan.working_directory = "/usr";
  plan.read_roots = {"/usr"};
  RootSteps own(plan, {}, {});
  CHECK(find(own.steps(), Kind::mount, "/new/etc/hosts") == own.steps().size());
  plan.network = NetworkAccess::full;
  RootSteps hosts(plan, {}, {});
  const bool mounts = find(hosts.steps(), Kind::mount, "/new/etc/hosts") < hosts.steps().size();
  CHECK(mounts == std::filesystem::exists("/etc/hosts"));  // Not every machine has one.
}

}  // namespace
}  // namespace pawl::sandbox
