#include "pawl/adapter/backend/sandbox/confinement.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::sandbox {
namespace {

struct Ran {
  std::string output;
  int code = -1;
};

Ran run(const Confinement& place, std::vector<std::string> argv) {
  std::array<int, 2> ends{-1, -1};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ProcessStart start;
  start.argv = std::move(argv);
  start.environment = {"PATH=/usr/bin:/bin", "HOME=/tmp"};
  start.working_directory = place.plan().working_directory;
  start.input = nothing.number();
  start.output = start.errors = write_end.number();
  auto process = place.start(start);
  if (!process) return {process.error().message, -1};
  write_end.reset();
  Ran ran;
  std::array<char, 4096> chunk{};
  for (ssize_t count = 1; count > 0;) {
    count = ::read(read_end.number(), chunk.data(), chunk.size());
    if (count > 0) ran.output.append(chunk.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  REQUIRE(::waitpid(process->pid, &status, 0) == process->pid);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

SandboxPlan plan_for(const std::string& directory, IsolationLevel level) {
  SandboxPlan plan;
  plan.level = level;
  plan.working_directory = directory;
  plan.write_roots = {directory};
  return plan;
}

// Null, and a word about it, where this machine cannot give the level.
std::shared_ptr<Confinement> prepare(SandboxPlan plan) {
  auto place = Confinement::prepare(std::move(plan));
  if (place) return *std::move(place);
  std::printf("SKIPPED: %s\n", place.error().message.c_str());
  return nullptr;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a process in namespaces has no rights, no capabilities and nobody beside it") {
  const TempDirectory directory;
  const auto place = prepare(plan_for(directory.path(), IsolationLevel::namespaces));
  if (!place) return;
  if (run(*place, {"test", "-d", "/proc/self"}).code != 0) {
    std::printf("SKIPPED: /proc cannot be mounted here\n");
    return;
  }
  const Ran ran = run(*place, {"cat", "/proc/self/status"});
  REQUIRE(ran.code == 0);
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    CHECK(holds(ran.output, std::string(set) + ":\t0000000000000000\n"));
  }
  CHECK(holds(ran.output, "NoNewPrivs:\t1\n"));
  CHECK(holds(ran.output, "Seccomp:\t2\n"));
  CHECK(holds(ran.output, "Uid:\t1000\t1000\t1000\t1000\n"));
  CHECK(holds(ran.output, "\nPid:\t1\n"));
  CHECK(run(*place, {"bash", "-c", "cd /proc; echo [0-9]*"}).output == "1\n");
}

TEST_CASE("the root of a namespace is small, and read-only but for the roots and /tmp") {
  const TempDirectory directory;
  const auto place = prepare(plan_for(directory.path(), IsolationLevel::namespaces));
  if (!place) return;
  CHECK(run(*place, {"bash", "-c", "echo x >here && echo x >/tmp/there"}).code == 0);
  CHECK(std::filesystem::exists(directory / "here"));
  CHECK_FALSE(std::filesystem::exists("/tmp/there"));
  for (const char* path : {"/x", "/usr/x", "/etc/x", "/dev/x", "/proc/x", "/run/x", "/var/x"}) {
    CAPTURE(path);
    CHECK(run(*place, {"touch", path}).code != 0);
  }
  for (const char* path : {"/sys", "/root", "/home", "/boot", "/etc/shadow", "/dev/tty"}) {
    CAPTURE(path);
    CHECK(run(*place, {"ls", path}).code != 0);
  }
  CHECK(run(*place, {"bash", "-c", "echo $(head -c 3 /dev/zero | tr '\\0' 0) >/dev/null"}).code ==
        0);
}

TEST_CASE("read roots can be read, at the same path") {
  const TempDirectory directory;
  const TempDirectory other;
  std::ofstream(other / "text") << "to read";
  for (const IsolationLevel level : {IsolationLevel::namespaces, IsolationLevel::landlock}) {
    SandboxPlan plan = plan_for(directory.path(), level);
    if (level == IsolationLevel::landlock && ::geteuid() == 0) {
      REQUIRE(::chown(directory.path().c_str(), 61998, 61998) == 0);
      REQUIRE(::chmod(other.path().c_str(), 0755) == 0);
    }
    plan.read_roots = {other.path()};
    const auto place = prepare(plan);
    if (!place) continue;
    CHECK(run(*place, {"cat", other / "text"}).output == "to read");
    CHECK(run(*place, {"touch", other / "text"}).code != 0);
    CHECK(run(*place, {"touch", other / "new"}).code != 0);
  }
}

TEST_CASE("what root owns on disk stays root's, whoever the command is") {
  const TempDirectory directory;
  const auto place = prepare(plan_for(directory.path(), IsolationLevel::namespaces));
  if (!place) return;
  REQUIRE(run(*place, {"touch", "made"}).code == 0);
  struct stat status{};
  REQUIRE(::stat((directory / "made").c_str(), &status) == 0);
  CHECK(status.st_uid == ::geteuid());
}

TEST_CASE("what cannot be started says why, and leaves nothing") {
  const TempDirectory directory;
  for (const IsolationLevel level : {IsolationLevel::namespaces, IsolationLevel::none}) {
    const auto place = prepare(plan_for(directory.path(), level));
    if (!place) continue;
    CHECK(holds(run(*place, {"no-such-thing"}).output, "no-such-thing: No such file"));
    CHECK(holds(run(*place, {""}).output, "empty"));
    CHECK(holds(run(*place, {std::string("a\0", 2)}).output, "NUL"));
    CHECK(::waitpid(-1, nullptr, WNOHANG) <= 0);
  }
}

TEST_CASE("limits of a process are set before it starts") {
  const TempDirectory directory;
  SandboxPlan plan = plan_for(directory.path(), IsolationLevel::namespaces);
  plan.limits.disk_bytes = 1U << 20U;
  plan.limits.processes = 8;
  const auto place = prepare(plan);
  if (!place) return;
  CHECK(run(*place, {"head", "-c", "2M", "/dev/zero"}).code == 0);
  CHECK(
      run(*place, {"bash", "-c", "head -c 2M /dev/zero >big; echo $?"}).output.ends_with("153\n"));
  CHECK(std::filesystem::file_size(directory / "big") == 1U << 20U);
  // The kernel counts no processes of user 0; without control groups the session's watch must do.
  if (place->identity().user != 0 || place->cgroup().bounds_processes()) {
    const Ran many = run(*place, {"bash", "-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 9 & done"});
    CHECK(holds(many.output, "fork"));
  }
  CHECK(run(*place, {"bash", "-c", "ulimit -c"}).output == "0\n");
}

}  // namespace
}  // namespace pawl::sandbox
