// What happens to a command when the process that runs it is killed.

#include <spawn.h>
#include <sys/wait.h>

#include <csignal>

#include "pawl/adapter/backend/command/command_test_support.h"
#include "pawl/adapter/backend/command/process_tree.h"

namespace pawl::tool_command {
namespace {

constexpr const char* kDirectoryVariable = "PAWL_TEST_HOST_DIRECTORY";
constexpr const char* kHostFilter = "-tc=the host of the tests in host_death_test.cc";

ToolInvocation shared_invocation() {
  ToolInvocation invocation = invocation_of();
  invocation.run = RunId{"host-death-" + std::string(std::getenv(kDirectoryVariable)).substr(5)};
  return invocation;
}

// Not a test: the tests run this program again, with this case only, as a host that they can kill.
TEST_CASE("the host of the tests in host_death_test.cc" * doctest::skip()) {
  CommandBench bench;
  bench.run(with_timeout(script("sleep 600 & echo $! >background; echo $$ >main; wait",
                                std::getenv(kDirectoryVariable)),
                         60'000),
            shared_invocation());
}

pid_t start_host(const TestDirectory& directory) {
  ::setenv(kDirectoryVariable, directory.path().c_str(), 1);
  std::array<const char*, 4> argv{"host", kHostFilter, "--no-skip", nullptr};
  pid_t pid = 0;
  REQUIRE(::posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr,
                        const_cast<char* const*>(argv.data()), environ) == 0);
  return pid;
}

TEST_CASE("a command dies with its host, and so does all that it has started") {
  const TestDirectory directory;
  const pid_t host = start_host(directory);
  const pid_t main = directory.await_pid("main");
  const pid_t background = directory.await_pid("background");
  CHECK(is_alive(main));

  ::kill(host, SIGKILL);
  CHECK(::waitpid(host, nullptr, 0) == host);

  CHECK(eventually([&] { return !is_alive(main); }));
  CHECK(eventually([&] { return !is_alive(background); }));  // guardian.h
}

}  // namespace
}  // namespace pawl::tool_command
