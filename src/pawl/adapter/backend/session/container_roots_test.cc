#include "pawl/adapter/backend/session/container_roots.h"

#include <filesystem>

#include "pawl/adapter/backend/session/attempts_test_support.h"

namespace pawl::backend {
namespace {

namespace fs = std::filesystem;
using contract::holds;
using contract::read_file;
using contract::write_file;
using Kind = BackendOutcome::Kind;

sandbox::SandboxPlan plan_of(const std::string& root) {
  sandbox::SandboxPlan plan;
  plan.working_directory = root;
  plan.write_roots = {root};
  REQUIRE(sandbox::hold_roots(plan));
  return plan;
}

TEST_CASE("the look needs a shell that commands may execute") {
  const TempDirectory directory;
  sandbox::SandboxPlan plan = plan_of(directory.path());
  const auto argv = behind_root_check(plan, {"true"});
  REQUIRE(argv);
  CHECK(argv->front() == "/bin/sh");
  CHECK(argv->back() == "true");
  plan.masked = {fs::canonical("/bin/sh").string()};
  const auto other = behind_root_check(plan, {"true"});
  CHECK((!other || fs::canonical(other->front()) != plan.masked.front()));
  plan.masked = {fs::canonical("/usr/bin/stat").string()};
  const auto none = behind_root_check(plan, {"true"});
  REQUIRE_FALSE(none);
  CHECK(holds(none.error().message, "a rule denies the programs"));
}

// Puts a link, or another directory, where the root was.
void replace_root(const std::string& root, const std::string& by, bool link) {
  fs::rename(root, root + ".away");
  if (link) {
    fs::create_directory_symlink(by, root);
  } else {
    fs::rename(by, root);
  }
}

TEST_CASE("a root that another takes the place of is not mounted in its stead") {
  for (const MakeBackend make : {&make_namespace_backend, &make_container_backend}) {
    for (const bool link : {true, false}) {
      if (!is_there(make)) continue;
      Bench bench(make);
      CAPTURE(bench.backend().name());
      CAPTURE(link);
      const std::string root = bench.directory / "root";
      const std::string victim = bench.directory / "victim";
      for (const std::string& path : {root, victim}) fs::create_directory(path);
      write_file(root + "/.envrc", "old");
      write_file(victim + "/secret", "canary");
      for (const std::string& path : {root, victim}) give_away(path);
      bench.context.working_directory = root;
      bench.context.write_roots = {root};
      REQUIRE(bench.bash("echo fine").kind == Kind::ok);
      replace_root(root, victim, link);
      const std::string seen = link ? victim : root;
      // A program of exec is another container, and a session that is set up anew mounts again.
      const BackendOutcome outcome = bench.exec({"sh", "-c", "cat secret; echo evil >made"});
      CAPTURE(outcome.output);
      CHECK_FALSE(holds(outcome.output, "canary"));
      CHECK_FALSE(fs::exists(seen + "/made"));
      const BackendOutcome next = bench.bash("cat secret; echo evil >made");
      CHECK_FALSE(holds(next.output, "canary"));
      CHECK_FALSE(fs::exists(seen + "/made"));
    }
  }
}

TEST_CASE("a container says which root is another one") {
  if (!is_there(&make_container_backend)) return;
  const TempDirectory directory;
  const std::string root = directory / "root";
  fs::create_directory(root);
  const sandbox::SandboxPlan plan = plan_of(root);
  const auto argv = behind_root_check(plan, {"echo", "ran"});
  REQUIRE(argv);
  Bench bench(&make_container_backend);
  adapt_to(&make_container_backend, bench);
  bench.context.read_roots = {root};
  CHECK(bench.exec(*argv).output == "ran\n");
  bench.end();
  fs::rename(root, root + ".away");
  fs::create_directory(root);
  const BackendOutcome outcome = bench.exec(*argv);
  CHECK(outcome.exit_code == kOtherRootExitCode);
  CHECK(
      holds(outcome.output, "[The root " + root + " is not the one with which the session began"));
}

TEST_CASE("the look leaves arguments and variables of the command as they are") {
  if (!is_there(&make_container_backend)) return;
  Bench bench(&make_container_backend);
  adapt_to(&make_container_backend, bench);
  bench.context.environment = {{"stat", "mine"}, {"A", "b c"}};
  CHECK(bench.exec({"printf", "%s|", "a b", "", ":", "$x"}).output == "a b||:|$x|");
  const std::string variables = bench.exec({"env"}).output;
  CHECK(holds(variables, "A=b c\n"));
  CHECK_FALSE(holds(variables, "OLDPWD="));
  CHECK_FALSE(holds(variables, "SHLVL="));
}

}  // namespace
}  // namespace pawl::backend
