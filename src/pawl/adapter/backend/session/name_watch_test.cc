#include "pawl/adapter/backend/session/name_watch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "pawl/adapter/backend/session/attempts_test_support.h"
#include "tests/support/eventually.h"

namespace pawl::backend {
namespace {

using contract::holds;
using contract::read_file;
using contract::write_file;
using Kind = BackendOutcome::Kind;
using Protection = ExecutionContext::Protection;

ExecutionContext context_of(const TempDirectory& directory) {
  ExecutionContext context;
  context.working_directory = directory.path();
  context.write_roots = {directory.path()};
  return context;
}

Result<NameWatch> open_watch(const ExecutionContext& context,
                             IsolationLevel level = IsolationLevel::landlock) {
  PAWL_TRY(const sandbox::SandboxPlan plan, sandbox::make_sandbox_plan(context, level));
  return NameWatch::open(plan, context.protection);
}

TEST_CASE("sc-F12 where names cannot be held, one that is there refuses the session") {
  for (const char* name : {".git", ".envrc", ".vscode"}) {
    CAPTURE(name);
    const TempDirectory directory;
    std::filesystem::create_directories(directory / name);
    ExecutionContext context = context_of(directory);
    const auto refused = open_watch(context);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::unavailable);
    CHECK(holds(refused.error().message, directory / name));
    CHECK(holds(refused.error().message, "use the level namespace"));
    CHECK(holds(refused.error().message, "protected: if_possible"));
    context.protection = Protection::if_possible;
    CHECK(open_watch(context));
  }
}

TEST_CASE("a link in the place of a protected name is there, wherever it leads") {
  const TempDirectory directory;
  std::filesystem::create_symlink("/nowhere", directory / ".mcp.json");
  CHECK_FALSE(open_watch(context_of(directory)));
}

TEST_CASE("a read root within a write root is not held, and refused") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "reference");
  ExecutionContext context = context_of(directory);
  context.protection = Protection::if_possible;
  context.read_roots = {directory / "reference"};
  const auto refused = open_watch(context);
  REQUIRE_FALSE(refused);
  CHECK(holds(refused.error().message, "read root " + (directory / "reference")));
}

TEST_CASE("a denied root within another is not held, and refused") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "private");
  ExecutionContext context = context_of(directory);
  context.deny_roots = {directory / "private"};
  const auto refused = open_watch(context);
  REQUIRE_FALSE(refused);
  CHECK(holds(refused.error().message, "the denied " + (directory / "private")));
  CHECK(open_watch(context, IsolationLevel::namespaces));
}

TEST_CASE("what gets a protected name is taken, with all that is in it") {
  const TempDirectory directory;
  const TempDirectory data;
  const TakenNames store(data / "taken", "r");
  const auto watch = open_watch(context_of(directory));
  REQUIRE(watch);
  CHECK_FALSE(watch->is_touched());
  CHECK(watch->take(store).empty());
  std::filesystem::create_directories(directory / ".pawl");
  write_file(directory / ".pawl/settings.json", "{}");
  CHECK(watch->is_touched());
  const auto said = watch->take(store);
  REQUIRE(said.size() == 1);
  CHECK(holds(said.front(), ".pawl is a protected name: it was moved to " + (data / "taken/r/1")));
  CHECK(read_file(data / "taken/r/1/.pawl/settings.json") == "{}");
  CHECK_FALSE(watch->is_touched());
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a name of several parts is taken itself, and not what stands beside it") {
  const TempDirectory directory;
  const TempDirectory data;
  const auto watch = open_watch(context_of(directory));
  REQUIRE(watch);
  std::filesystem::create_directories(directory / ".cargo");
  write_file(directory / ".cargo/config.toml", "fine");
  CHECK_FALSE(watch->is_touched());
  write_file(directory / ".cargo/credentials", "x");
  CHECK(watch->take(TakenNames(data / "taken", "r")).size() == 1);
  CHECK(read_file(directory / ".cargo/config.toml") == "fine");
  CHECK_FALSE(std::filesystem::exists(directory / ".cargo/credentials"));
  std::filesystem::remove_all(directory / ".cargo");
  std::filesystem::create_symlink("elsewhere", directory / ".cargo");
  CHECK(watch->take(TakenNames(data / "taken", "r")).size() == 1);
  CHECK_FALSE(std::filesystem::is_symlink(directory / ".cargo"));
}

TEST_CASE("only the link is taken, and not what it leads to") {
  const TempDirectory directory;
  const TempDirectory data;
  const TempDirectory elsewhere;
  write_file(elsewhere / "kept", "kept");
  const auto watch = open_watch(context_of(directory));
  REQUIRE(watch);
  std::filesystem::create_symlink(elsewhere.path(), directory / ".envrc");
  CHECK(watch->take(TakenNames(data / "taken", "r")).size() == 1);
  CHECK(std::filesystem::is_symlink(data / "taken/r/1/.envrc"));
  CHECK(read_file(elsewhere / "kept") == "kept");
}

TEST_CASE("a name that a file tool made is accepted") {
  const TempDirectory directory;
  auto watch = open_watch(context_of(directory));
  REQUIRE(watch);
  std::filesystem::create_directories(directory / ".vscode");
  CHECK(watch->is_touched());
  CHECK_FALSE(watch->accept(directory / "x"));
  CHECK(watch->accept(directory / ".vscode/settings.json"));
  CHECK_FALSE(watch->is_touched());
}

TEST_CASE("a working directory that is carried away is noticed") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "a/project");
  ExecutionContext context = context_of(directory);
  context.working_directory = directory / "a/project";
  const auto watch = open_watch(context);
  REQUIRE(watch);
  std::filesystem::rename(directory / "a", directory / "b");
  std::filesystem::create_directories(directory / "a/project/.pawl");
  const TempDirectory data;
  const auto said = watch->take(TakenNames(data / "taken", "r"));
  REQUIRE(said.size() == 1);
  CHECK(holds(said.front(), "moved away"));
}

TEST_CASE("a bare repository that was there is the user's own") {
  const TempDirectory directory;
  for (const char* name : {"HEAD", "objects", "refs"}) {
    std::filesystem::create_directories(directory / name);
  }
  const auto watch = open_watch(context_of(directory), IsolationLevel::namespaces);
  REQUIRE(watch);
  CHECK_FALSE(watch->is_touched());
}

TEST_CASE("none of the attempts to make a repository of the workspace itself works (B16)") {
  for (const MakeBackend make :
       {&make_namespace_backend, &make_landlock_backend, &make_container_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    adapt_to(make, bench);
    CAPTURE(bench.backend().name());
    CHECK(bench.bash("mkdir objects refs; echo x >config").kind == Kind::ok);
    const BackendOutcome outcome = bench.bash("echo 'ref: refs/heads/main' >HEAD");
    CHECK(outcome.kind == Kind::denied);
    CHECK(holds(outcome.output, "/HEAD makes a git repository of this directory"));
    CHECK_FALSE(std::filesystem::exists(bench.directory / "HEAD"));
    CHECK_FALSE(std::filesystem::exists(bench.directory / "deniedHEAD"));
    CHECK(bench.bash("echo fine").output.ends_with("fine\n"));
    CHECK(bench.bash("rmdir refs; echo 'ref: refs/heads/main' >HEAD").kind == Kind::ok);
    CHECK(bench.bash("echo evil >commondir").kind == Kind::denied);
    // Behind Landlock there is no chmod.
    CHECK(bench.bash("echo x >HEAD; chmod 555 .").kind == Kind::denied);
    CHECK_FALSE(std::filesystem::exists(bench.directory / "HEAD"));
  }
}

// Odd modes.
TEST_CASE("a repository whose parts look like placeholders is one, too (B16)") {
  for (const MakeBackend make :
       {&make_namespace_backend, &make_landlock_backend, &make_container_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    adapt_to(make, bench);
    CAPTURE(bench.backend().name());
    // Not by chmod, which Landlock's level has not.
    const std::string head = "echo 'ref: refs/heads/main' >HEAD; umask 0; ";
    CHECK(bench.bash(head + "perl -e 'mkdir q(refs); mkdir q(objects), 01555'").kind ==
          Kind::denied);
    CHECK_FALSE(std::filesystem::exists(bench.directory / "HEAD"));
    CHECK(bench
              .bash("rmdir objects refs; " + head +
                    "perl -MFcntl -e 'sysopen F, q(commondir), O_CREAT|O_WRONLY, 01444; "
                    "print F q(x)'")
              .kind == Kind::denied);
    CHECK_FALSE(std::filesystem::exists(bench.directory / "HEAD"));
  }
}

void check_made_names(MakeBackend make) {
  if (!is_there(make)) return;
  Bench bench(make);
  adapt_to(make, bench);
  CAPTURE(bench.backend().name());
  const TempDirectory data;
  bench.context.taken_directory = data / "taken";
  const std::string root = bench.directory.path();
  for (const char* attack :
       {"echo x >.envrc", "echo x >.mcp.json", "mkdir -p .pawl; echo x >.pawl/settings.json",
        "ln -s /tmp .idea", "mkfifo .vscode", "mkdir d; mv d .vscode",
        "echo x >f; ln f .envrc; exit 3", "mkdir -p .config/fish; echo x >.config/fish/config.fish",
        "echo x >.bashrc", "mkdir -p sub/deep; echo x >sub/deep/.envrc",
        "mkdir .ssh; echo x >.ssh/authorized_keys",
        "mkdir -p .cargo; echo x >.cargo/credentials"}) {
    CAPTURE(attack);
    const BackendOutcome outcome = bench.bash(attack);
    CAPTURE(outcome.output);
    CHECK(outcome.kind == Kind::denied);
    CHECK(holds(outcome.output, "[Denied: " + root));
    for (const char* name :
         {"/.git", "/.envrc", "/.mcp.json", "/.pawl", "/.idea", "/.vscode", "/.config", "/.bashrc",
          "/sub/deep/.envrc", "/.ssh", "/denied.envrc", "/.cargo/credentials"}) {
      CAPTURE(name);
      CHECK(std::filesystem::symlink_status(root + name).type() ==
            std::filesystem::file_type::not_found);
    }
  }
  CHECK(bench.exec({"touch", ".envrc"}).kind == Kind::denied);
  CHECK(bench.bash("echo fine >normal").kind == Kind::ok);
  bench.end();
  CHECK(std::filesystem::exists(data / "taken/bench"));
}

TEST_CASE("what a command makes under a protected name is taken at every level (B16, F13)") {
  check_made_names(&make_namespace_backend);
  check_made_names(&make_landlock_backend);
  check_made_names(&make_container_backend);
}

TEST_CASE("a background job that makes a protected name after its call is the end of the shell") {
  if (!is_there(&make_landlock_backend)) return;
  Bench bench(&make_landlock_backend);
  const std::string root = bench.directory.path();
  REQUIRE(bench.bash("X=1; (until [ -e go ]; do sleep 0.05; done; echo x >.envrc; touch made) &")
              .kind == Kind::ok);
  REQUIRE(bench
              .finish([&](auto done) {
                return bench.session().create_file({"go", ""}, std::move(done));
              })
              .kind == Kind::ok);
  REQUIRE(eventually([&] { return std::filesystem::exists(root + "/made"); }));
  const BackendOutcome outcome = bench.bash("echo ran");
  CHECK(outcome.kind == Kind::denied);
  CHECK(holds(outcome.output, "this call was not run"));
  CHECK_FALSE(std::filesystem::exists(root + "/.envrc"));
  CHECK(holds(bench.bash("echo \"[$X]\"").output, "new shell"));
}

TEST_CASE("what a background job leaves under a protected name is taken at the end") {
  if (!is_there(&make_landlock_backend)) return;
  Bench bench(&make_landlock_backend);
  const TempDirectory data;
  bench.context.taken_directory = data / "taken";
  const std::string root = bench.directory.path();
  REQUIRE(bench.bash("(until [ -e go ]; do sleep 0.05; done; echo x >.envrc; touch made) &").kind ==
          Kind::ok);
  write_file(root + "/go", "");
  REQUIRE(eventually([&] { return std::filesystem::exists(root + "/made"); }));
  bench.end();
  CHECK_FALSE(std::filesystem::exists(root + "/.envrc"));
  CHECK(std::filesystem::exists(data / "taken/bench/1/.envrc"));
}

TEST_CASE(
    "a repository refuses `landlock` before anything runs, also when it is asked in advance") {
  if (!is_there(&make_landlock_backend)) return;
  Bench bench(&make_landlock_backend);
  std::filesystem::create_directories(bench.directory / ".git/hooks");
  const Status admitted = bench.backend().admits(bench.context);
  REQUIRE_FALSE(admitted);
  CHECK(holds(admitted.error().message, ".git"));
  CHECK_FALSE(bench.open());
  bench.context.protection = Protection::if_possible;
  CHECK(bench.backend().admits(bench.context));
  CHECK(bench.bash("echo x >normal").kind == Kind::ok);
}

}  // namespace
}  // namespace pawl::backend
