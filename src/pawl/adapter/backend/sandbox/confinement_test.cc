#include "pawl/adapter/backend/sandbox/confinement.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "tests/support/temp_directory.h"

namespace pawl::sandbox {
namespace {

using tool_command::Fd;

struct Ran {
  std::string output;
  int code = -1;
};

Ran run(const Confinement& place, std::vector<std::string> argv) {
  std::array<int, 2> ends{-1, -1};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
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

TEST_CASE("smoke") {
  const TempDirectory directory;
  SandboxPlan plan;
  plan.working_directory = directory.path();
  plan.write_roots = {directory.path()};
  plan.protected_names = {".git/hooks", ".pawl"};
  auto place = Confinement::prepare(plan);
  if (!place) MESSAGE(place.error().message);
  REQUIRE(place);
  for (const char* text :
       {"id; pwd; ls -la / . /etc /dev /proc/self/fd; mount; cat /proc/self/status",
        "echo hi >x; ls -l; touch .pawl/y; mkdir .git/hooks/z; mv .git .g",
        "ps aux || ls /proc; python3 -c 'print(1)'"}) {
    const Ran ran = run(**place, {"bash", "-c", text});
    MESSAGE(ran.output << ran.code);
  }
}

}  // namespace
}  // namespace pawl::sandbox
