#include "pawl/adapter/backend/session/workspace_guard.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "pawl/adapter/backend/session/attempts_test_support.h"
#include "tests/support/eventually.h"

namespace pawl::backend {
namespace {

using contract::holds;
using contract::read_file;
using contract::write_file;
using Kind = BackendOutcome::Kind;

// An editor's save.
void replace(const std::string& path, const std::string& text) {
  write_file(path + ".new", text);
  give_away(path + ".new");
  std::filesystem::rename(path + ".new", path);
}

struct Notices {
  std::mutex mutex;
  std::string text;
  BackendOptions options() {
    BackendOptions made = test_options();
    made.notice = [this](const ExecutionContext&, const std::string& said) {
      const std::lock_guard lock(mutex);
      text += said + "\n";
    };
    return made;
  }
  std::string all() {
    const std::lock_guard lock(mutex);
    return text;
  }
};

// Calls a function as soon as the command has made the file `ready`.
class WhenReady {
 public:
  WhenReady(std::string ready, std::function<void()> then)
      : thread_([ready = std::move(ready), then = std::move(then)] {
          if (eventually([&] { return std::filesystem::exists(ready); })) then();
        }) {}
  WhenReady(const WhenReady&) = delete;
  WhenReady& operator=(const WhenReady&) = delete;
  ~WhenReady() { thread_.join(); }

 private:
  std::thread thread_;
};

TEST_CASE("a protected file is held by all of its names, and a secret is read by none") {
  for (const MakeBackend make : {&make_namespace_backend, &make_container_backend}) {
    if (!is_there(make)) continue;
    Notices notices;
    Bench bench(make, notices.options());
    adapt_to(make, bench);
    CAPTURE(bench.backend().name());
    namespace fs = std::filesystem;
    const std::string root = bench.directory.path();
    fs::create_directories(root + "/node_modules/x");
    fs::create_directories(root + "/.ssh");
    write_file(root + "/.envrc", "the user's");
    write_file(root + "/.ssh/key", "a secret");
    write_file(root + "/plain", "plain");
    fs::create_hard_link(root + "/.envrc", root + "/notes");
    fs::create_hard_link(root + "/.envrc", root + "/node_modules/x/notes");
    fs::create_hard_link(root + "/.ssh/key", root + "/backup");
    fs::create_hard_link(root + "/plain", root + "/plain-too");
    struct stat owner{};  // of all: what commands cannot write is held by mounts alone
    REQUIRE(::stat(root.c_str(), &owner) == 0);
    for (const char* name : {".envrc", ".ssh", ".ssh/key", "plain", "node_modules/x"}) {
      REQUIRE(::chown((root + "/" + name).c_str(), owner.st_uid, owner.st_gid) == 0);
    }
    const BackendOutcome outcome = bench.bash(
        "for f in notes node_modules/x/notes; do echo evil >>$f; chmod 777 $f; done 2>/dev/null; "
        "cat backup; echo more >>plain-too; mv notes elsewhere 2>/dev/null; true");
    CAPTURE(outcome.output);
    CHECK(read_file(root + "/.envrc") == "the user's");
    CHECK_FALSE(holds(outcome.output, "a secret"));
    CHECK(holds(read_file(root + "/plain"), "more"));
    CHECK(fs::exists(root + "/notes"));
  }
}

TEST_CASE("an editor's save beside a hostile loop ends the loop, and the file stays the user's") {
  for (const MakeBackend make : {&make_namespace_backend, &make_container_backend}) {
    if (!is_there(make)) continue;
    Notices notices;
    Bench bench(make, notices.options());
    adapt_to(make, bench);
    CAPTURE(bench.backend().name());
    const std::string envrc = bench.directory / ".envrc";
    write_file(envrc, "old");
    give_away(envrc);
    const WhenReady save(bench.directory / "ready", [&] { replace(envrc, "the user's"); });
    const BackendOutcome outcome =
        bench.bash("touch ready; while :; do echo evil 2>/dev/null >>.envrc; done", 20'000);
    CAPTURE(outcome.output);
    CHECK(outcome.kind == Kind::denied);
    CHECK(holds(outcome.output, ".envrc was replaced outside; the command was ended"));
    // The window: what was written in it is told, and nothing is written after it.
    const bool written = read_file(envrc) != "the user's";
    CHECK((!written || holds(notices.all(), "it may hold what the agent wrote")));
    replace(envrc, "again");
    CHECK(bench.bash("echo evil >>.envrc").exit_code != 0);
    CHECK(read_file(envrc) == "again");
  }
}

TEST_CASE("a saved file that is gone when the commands have ended is named as lost") {
  if (!is_there(&make_namespace_backend)) return;
  Notices notices;
  Bench bench(&make_namespace_backend, notices.options());
  const std::string envrc = bench.directory / ".envrc";
  bool said = false;
  for (int attempt = 0; attempt < 20 && !said; ++attempt) {  // the window is short
    std::filesystem::remove(bench.directory / "ready");
    replace(envrc, "old");
    // Who removes it is not seen: the host does here what a command would.
    const WhenReady save(bench.directory / "ready", [&] {
      replace(envrc, "the user's");
      std::filesystem::remove(envrc);
    });
    const BackendOutcome outcome = bench.bash("touch ready; sleep 20", 20'000);
    CHECK(outcome.kind == Kind::denied);
    said = holds(outcome.output, "a command may have removed it");
  }
  CHECK(said);
  CHECK(holds(notices.all(), ".envrc was replaced outside and removed"));
}

TEST_CASE("what was replaced while only jobs ran is told when the session ends, too") {
  if (!is_there(&make_namespace_backend)) return;
  Notices notices;
  Bench bench(&make_namespace_backend, notices.options());
  const std::string envrc = bench.directory / ".envrc";
  write_file(envrc, "old");
  give_away(envrc);
  CHECK(bench.bash("sleep 30 & echo begun").kind == Kind::ok);
  replace(envrc, "the user's");
  write_file(envrc, "and what a job could have written");
  bench.end();
  CHECK(holds(notices.all(), ".envrc was replaced outside and written again"));
}

// As git does (`git stash`, `git checkout`): ext4 gives the new file the number of the old one.
TEST_CASE("a file that is removed and made anew under its old number is noticed") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const std::string envrc = bench.directory / ".envrc";
  write_file(envrc, "old");
  give_away(envrc);
  const WhenReady checkout(bench.directory / "ready", [&] {
    std::filesystem::remove(envrc);
    write_file(envrc, "the user's");
    give_away(envrc);
  });
  const BackendOutcome outcome = bench.bash(
      "touch ready; until grep -q user .envrc; do :; done; echo evil 2>/dev/null >>.envrc; sleep 9",
      20'000);
  CHECK(outcome.kind == Kind::denied);
  CHECK(holds(outcome.output, ".envrc was replaced outside"));
}

TEST_CASE("a file that the host is just replacing is waited for, and not taken for absent") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const TempDirectory data;
  bench.context.taken_directory = data / "taken";
  const std::string envrc = bench.directory / ".envrc";
  write_file(envrc, "old");
  CHECK(bench.bash("true").kind == Kind::ok);
  std::filesystem::remove(envrc);
  std::thread git([&] {
    ::poll(nullptr, 0, 50);  // between two system calls of its
    write_file(envrc, "the user's");
  });
  const BackendOutcome outcome = bench.bash("sleep 0.2; echo evil >.envrc");
  git.join();
  CHECK(outcome.exit_code != 0);
  CHECK(read_file(envrc) == "the user's");
  CHECK_FALSE(std::filesystem::exists(data / "taken/bench"));
}

TEST_CASE("a save in place, or between two calls, ends nothing that runs") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const std::string envrc = bench.directory / ".envrc";
  write_file(envrc, "old");
  const WhenReady save(bench.directory / "ready", [&] { write_file(envrc, "new"); });
  const BackendOutcome in_place =
      bench.bash("touch ready; until grep -q new .envrc; do :; done; echo seen", 20'000);
  CHECK(in_place.kind == Kind::ok);
  CHECK(holds(in_place.output, "seen"));
  replace(envrc, "saved");
  const BackendOutcome next = bench.bash("cat .envrc; echo evil >>.envrc");
  CHECK(holds(next.output, "saved"));
  CHECK(read_file(envrc) == "saved");
  CHECK(bench.exec({"sh", "-c", "echo evil >>.envrc"}).kind == Kind::failed);
}

TEST_CASE("a protected directory that the host moves and makes anew is held again") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const std::string place = bench.directory / ".vscode";
  std::filesystem::create_directories(place);
  const WhenReady move(bench.directory / "ready", [&] {
    std::filesystem::rename(place, bench.directory / "old");
    std::filesystem::create_directories(place);
  });
  const BackendOutcome outcome = bench.bash(
      "touch ready; until echo evil 2>/dev/null >.vscode/tasks.json; do :; done; sleep 9", 20'000);
  CHECK(outcome.kind == Kind::denied);
  CHECK(bench.bash("echo evil >.vscode/other").exit_code != 0);
  CHECK_FALSE(std::filesystem::exists(place + "/other"));
}

TEST_CASE("a name that the host removes is an absent one from then on") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const TempDirectory data;
  bench.context.taken_directory = data / "taken";
  write_file(bench.directory / ".envrc", "old");
  CHECK(bench.bash("echo evil >.envrc").exit_code != 0);
  std::filesystem::remove(bench.directory / ".envrc");
  CHECK(bench.bash("echo evil >.envrc").kind == Kind::denied);
  CHECK_FALSE(std::filesystem::exists(bench.directory / ".envrc"));
  CHECK(read_file(data / "taken/bench/1/.envrc") == "evil\n");
}

TEST_CASE("secrets are neither read nor written, in roots and beneath them") {
  for (const MakeBackend make : {&make_namespace_backend, &make_container_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    adapt_to(make, bench);
    CAPTURE(bench.backend().name());
    const TempDirectory reference;
    bench.context.read_roots = {reference.path()};
    for (const std::string& root :
         {bench.directory.path(), bench.directory / "sub/deep", reference.path()}) {
      std::filesystem::create_directories(root + "/.ssh");
      write_file(root + "/.ssh/id", "canary");
      write_file(root + "/.netrc", "canary");
    }
    const BackendOutcome read = bench.bash(
        "grep -r canary . " + reference.path() +
        "; cat .netrc .ssh/id sub/deep/.netrc; ls .ssh; "
        "chmod 777 .netrc .ssh; cat .netrc; cp .netrc copy; mv .ssh moved; ln .netrc hard; "
        "cat moved/id copy hard");
    CAPTURE(read.output);
    CHECK_FALSE(holds(read.output, "canary"));
    CHECK(bench.bash("echo x >.netrc").exit_code != 0);
    CHECK(read_file(bench.directory / "sub/deep/.netrc") == "canary");
  }
}

TEST_CASE("read, write and deny nest: the most specific root counts") {
  for (const MakeBackend make : {&make_namespace_backend, &make_container_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    adapt_to(make, bench);
    CAPTURE(bench.backend().name());
    const std::string root = bench.directory.path();
    for (const char* path : {"/ref/out", "/private/open/shut", "/plain"}) {
      std::filesystem::create_directories(root + path);
    }
    for (const char* path :
         {"/ref", "/ref/out", "/private", "/private/open", "/private/open/shut"}) {
      if (is_container(make)) give_away(root + path);
      write_file(root + path + "/f", "canary");
    }
    bench.context.read_roots = {root + "/ref"};
    bench.context.write_roots = {root, root + "/ref/out", root + "/private/open"};
    bench.context.deny_roots = {root + "/private", root + "/private/open/shut"};
    CHECK(bench.bash("echo x >ref/f").exit_code != 0);
    CHECK(bench.bash("cat ref/f").exit_code == 0);
    CHECK(bench.bash("echo x >ref/out/g").exit_code == 0);
    CHECK(bench.bash("cat private/f").exit_code != 0);
    CHECK_FALSE(holds(bench.bash("ls private").output, "f\n"));
    CHECK(bench.bash("echo x >private/open/g && cat private/open/f").exit_code == 0);
    CHECK(bench.bash("cat private/open/shut/f").exit_code != 0);
    const auto view = [&](const std::string& path) {
      return bench
          .finish(
              [&](auto done) { return bench.session().view(path, std::nullopt, std::move(done)); })
          .kind;
    };
    CHECK(view("ref/f") == Kind::ok);
    CHECK(view("private/f") == Kind::failed);
    CHECK(view("private/open/f") == Kind::ok);
    CHECK(view("private/open/shut/f") == Kind::failed);
  }
}

TEST_CASE("what a session that was killed has left is taken by the next one") {
  if (!is_there(&make_namespace_backend)) return;
  Notices notices;
  Bench bench(&make_namespace_backend, notices.options());
  const TempDirectory data;
  bench.context.taken_directory = data / "taken";
  write_file(bench.directory / ".envrc", "evil");
  {
    REQUIRE(AbsentNote::write(TakenNames(data / "taken", "old"), "old",
                              {{bench.directory / ".envrc"}}));
  }
  const BackendOutcome outcome = bench.bash("echo fine");
  CHECK(outcome.kind == Kind::ok);
  CHECK(holds(outcome.output, "left by a session that was killed"));
  CHECK(holds(notices.all(), "left by a session that was killed"));
  CHECK(read_file(data / "taken/old/1/.envrc") == "evil");
}

TEST_CASE("a nested name that a killed session made is taken, one that was there before is not") {
  if (!is_there(&make_namespace_backend)) return;
  const TempDirectory data;
  const std::string taken = data / "taken";
  Notices notices;
  Bench bench(&make_namespace_backend, notices.options());
  bench.context.taken_directory = taken;
  std::filesystem::create_directories(bench.directory / "old");
  write_file(bench.directory / "old/.envrc", "the user's");
  CHECK(bench.bash("mkdir sub").kind == Kind::ok);
  // What a kill leaves: the note, without its lock, and what the command had made by then.
  const auto notes = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(taken)) {
      if (entry.is_regular_file()) found.push_back(entry.path().string());
    }
    return found;
  };
  REQUIRE(notes().size() == 1);
  std::filesystem::copy(notes()[0], taken + "/absent-killed-1");
  write_file(bench.directory / "sub/.envrc", "evil");
  Bench next(&make_namespace_backend, notices.options());
  next.context = bench.context;
  const BackendOutcome outcome = next.bash("echo fine");
  CHECK(holds(outcome.output, "sub/.envrc is a protected name: it was moved to"));
  CHECK_FALSE(std::filesystem::exists(bench.directory / "sub/.envrc"));
  CHECK(read_file(bench.directory / "old/.envrc") == "the user's");
  CHECK(read_file(taken + "/killed/1/.envrc") == "evil");
}

}  // namespace
}  // namespace pawl::backend
