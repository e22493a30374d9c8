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

TEST_CASE("sc-F12 where names cannot be held, one that is there refuses the session") {
  for (const char* name : {".git", ".envrc", ".vscode"}) {
    CAPTURE(name);
    const TempDirectory directory;
    std::filesystem::create_directories(directory / name);
    ExecutionContext context = context_of(directory);
    const auto refused = NameWatch::open(context);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::unavailable);
    CHECK(holds(refused.error().message, directory / name));
    CHECK(holds(refused.error().message, "use the level namespace"));
    CHECK(holds(refused.error().message, "protected: if_possible"));
    context.protection = Protection::if_possible;
    CHECK(NameWatch::open(context));
  }
}

TEST_CASE("a link in the place of a protected name is there, wherever it leads") {
  const TempDirectory directory;
  std::filesystem::create_symlink("/nowhere", directory / ".mcp.json");
  CHECK_FALSE(NameWatch::open(context_of(directory)));
}

TEST_CASE("a read root within a write root is not held, and refused") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "reference");
  ExecutionContext context = context_of(directory);
  context.protection = Protection::if_possible;
  context.read_roots = {directory / "reference"};
  const auto refused = NameWatch::open(context);
  REQUIRE_FALSE(refused);
  CHECK(holds(refused.error().message, "read root " + (directory / "reference")));
}

TEST_CASE("what gets a protected name is put aside, with all that is in it") {
  const TempDirectory directory;
  const auto watch = NameWatch::open(context_of(directory));
  REQUIRE(watch);
  CHECK_FALSE(watch->is_touched());
  CHECK(watch->put_aside().empty());
  for (const char* aside :
       {"denied.pawl", "denied.pawl."}) {  // the second one is not to be guessed
    std::filesystem::create_directories(directory / ".pawl");
    write_file(directory / ".pawl/settings.json", "{}");
    CHECK(watch->is_touched());
    const auto said = watch->put_aside();
    REQUIRE(said.size() == 1);
    CHECK(holds(said.front(), std::string("put aside as ") + aside));
    const std::string name = said.front().substr(said.front().rfind(' ') + 1);
    CHECK(read_file(directory / (name + "/settings.json")) == "{}");
    CHECK_FALSE(watch->is_touched());
  }
}

TEST_CASE("only the link is put aside, and not what it leads to") {
  const TempDirectory directory;
  const TempDirectory elsewhere;
  write_file(elsewhere / "kept", "kept");
  const auto watch = NameWatch::open(context_of(directory));
  REQUIRE(watch);
  std::filesystem::create_symlink(elsewhere.path(), directory / ".git");
  CHECK(watch->put_aside().size() == 1);
  CHECK(std::filesystem::is_symlink(directory / "denied.git"));
  CHECK(read_file(elsewhere / "kept") == "kept");
}

TEST_CASE("a placeholder of another session is left alone, and nothing else passes for one") {
  const TempDirectory directory;
  const auto watch = NameWatch::open(context_of(directory));
  REQUIRE(watch);
  REQUIRE(::mkdir((directory / ".pawl").c_str(), 0700) == 0);
  REQUIRE(::chmod((directory / ".pawl").c_str(), S_ISVTX | 0555) == 0);
  CHECK_FALSE(watch->is_touched());
  CHECK(NameWatch::open(context_of(directory)));
  write_file(directory / ".envrc", "run me");
  REQUIRE(::chmod((directory / ".envrc").c_str(), S_ISVTX | 0444) == 0);
  CHECK(watch->put_aside().size() == 1);
  REQUIRE(::mkfifo((directory / ".envrc").c_str(), 0600) == 0);
  REQUIRE(::chmod((directory / ".envrc").c_str(), S_ISVTX | 0444) == 0);
  CHECK(watch->put_aside().size() == 1);
}

TEST_CASE("beneath a repository that is accepted, what is not there yet is still watched for") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / ".git/hooks");
  write_file(directory / ".git/config", "[core]\n");
  ExecutionContext context = context_of(directory);
  context.protection = Protection::if_possible;
  const auto watch = NameWatch::open(context);
  REQUIRE(watch);
  write_file(directory / ".git/hooks/post-commit", "accepted");
  CHECK_FALSE(watch->is_touched());
  write_file(directory / ".git/commondir", "../evil\n");
  const auto said = watch->put_aside();
  REQUIRE(said.size() == 1);
  CHECK(std::filesystem::exists(directory / ".git/deniedcommondir"));
}

TEST_CASE("a working directory that is carried away is noticed") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "a/project");
  ExecutionContext context = context_of(directory);
  context.working_directory = directory / "a/project";
  const auto watch = NameWatch::open(context);
  REQUIRE(watch);
  std::filesystem::rename(directory / "a", directory / "b");
  std::filesystem::create_directories(directory / "a/project/.pawl");
  const auto said = watch->put_aside();
  REQUIRE(said.size() == 1);
  CHECK(holds(said.front(), "moved away"));
}

TEST_CASE("a bare repository that was there is the user's own") {
  const TempDirectory directory;
  for (const char* name : {"HEAD", "objects", "refs"}) {
    std::filesystem::create_directories(directory / name);
  }
  const auto watch = NameWatch::open_for_repositories(context_of(directory));
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
    CHECK(std::filesystem::exists(bench.directory / "deniedHEAD"));
    CHECK(bench.bash("echo fine").output.ends_with("fine\n"));
    CHECK(bench.bash("rmdir refs; echo 'ref: refs/heads/main' >HEAD").kind == Kind::ok);
    CHECK(bench.bash("echo evil >commondir").kind == Kind::denied);
    // Behind Landlock there is no chmod.
    CHECK(bench.bash("echo x >HEAD; chmod 555 .").kind == Kind::denied);
    CHECK_FALSE(std::filesystem::exists(bench.directory / "HEAD"));
  }
}

// The mark of what the sandbox itself puts in the place of names that are not there.
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

TEST_CASE("none of the attempts to make a protected name works behind Landlock alone (B16, F13)") {
  if (!is_there(&make_landlock_backend)) return;
  Bench bench(&make_landlock_backend);
  const std::string root = bench.directory.path();
  for (const char* attack :
       {"mkdir -p .git/hooks; echo x >.git/hooks/post-commit", "echo x >.envrc",
        "echo x >.mcp.json", "mkdir -p .pawl; echo x >.pawl/settings.json", "ln -s /tmp .idea",
        "mkfifo .vscode", "mkdir d; mv d .vscode", "echo x >f; ln f .envrc; exit 3"}) {
    CAPTURE(attack);
    const BackendOutcome outcome = bench.bash(attack);
    CAPTURE(outcome.output);
    CHECK(outcome.kind == Kind::denied);
    CHECK(holds(outcome.output, "[Denied: " + root));
    for (const char* name : {"/.git", "/.envrc", "/.mcp.json", "/.pawl", "/.idea", "/.vscode"}) {
      CHECK(std::filesystem::symlink_status(root + name).type() ==
            std::filesystem::file_type::not_found);
    }
  }
  CHECK(bench.exec({"touch", ".envrc"}).kind == Kind::denied);
  CHECK(bench.bash("echo fine >normal").kind == Kind::ok);
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

TEST_CASE("what a background job leaves under a protected name is put aside at the end") {
  if (!is_there(&make_landlock_backend)) return;
  Bench bench(&make_landlock_backend);
  const std::string root = bench.directory.path();
  REQUIRE(bench.bash("(until [ -e go ]; do sleep 0.05; done; echo x >.envrc; touch made) &").kind ==
          Kind::ok);
  write_file(root + "/go", "");
  REQUIRE(eventually([&] { return std::filesystem::exists(root + "/made"); }));
  bench.end();
  CHECK_FALSE(std::filesystem::exists(root + "/.envrc"));
  CHECK(std::filesystem::exists(root + "/denied.envrc"));
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
