#include "pawl/adapter/backend/command/command_run.h"

#include <sys/eventfd.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "pawl/adapter/backend/command/command_test_support.h"

namespace pawl::tool_command {
namespace {

using Kind = ToolOutcome::Kind;

TEST_CASE("a command that is stopped before it has started is not started") {
  const TestDirectory directory;
  const Descriptor stop(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  CommandPlan plan;
  plan.argv = {"touch", "started"};
  plan.environment = {"PATH=" + std::string(kCommandPath)};
  plan.working_directory = directory.path();
  plan.timeout_ms = 60'000;

  const CommandEnd end = run_command(plan, stop);

  CHECK(std::holds_alternative<NeverAllowed>(end.how));
  CHECK_FALSE(std::filesystem::exists(directory.path() + "/started"));
}

TEST_CASE("a timeout takes the background processes with it") {
  const TestDirectory directory;
  CommandBench bench;
  const auto call = bench.start(with_timeout(
      script("sleep 600 & echo $! >other; echo $$ >main; echo said; sleep 600", directory.path()),
      1500));
  const pid_t main = directory.await_pid("main");
  const pid_t other = directory.await_pid("other");

  const ToolOutcome outcome = bench.finish(*call);

  CHECK(outcome.kind == Kind::timed_out);
  CHECK(contains(outcome.content, "timeout of 1500 ms"));
  CHECK(contains(outcome.content, "said"));
  CHECK_FALSE(is_alive(main));
  CHECK_FALSE(is_alive(other));
}

// Two forks, a session and an environment of its own, no pipe of ours: as far away as a process
// gets.
std::string daemon_and(const char* next) {
  std::string text =
      "(env -i setsid sh -c 'echo $$ >daemon; exec sleep 600' </dev/null >/dev/null 2>&1 &) ; "
      "while [ ! -s daemon ]; do :; done; ";
  return text += next;
}

TEST_CASE("a daemon with a session and an environment of its own is gone after a timeout") {
  const TestDirectory directory;
  CommandBench bench;
  const auto call =
      bench.start(with_timeout(script(daemon_and("exec sleep 600"), directory.path()), 2000));
  const pid_t daemon = directory.await_pid("daemon");
  CHECK(is_alive(daemon));

  CHECK(bench.finish(*call).kind == Kind::timed_out);

  CHECK_FALSE(read_process_stat(daemon));  // reaped, too
}

TEST_CASE("a command that succeeds takes its daemons with it") {
  const TestDirectory directory;
  CommandBench bench;

  const ToolOutcome outcome = bench.run(script(daemon_and("echo done"), directory.path()));

  CHECK(outcome.kind == Kind::succeeded);
  CHECK(outcome.content == "done\n");
  CHECK_FALSE(read_process_stat(directory.await_pid("daemon")));
}

TEST_CASE("a background process that holds the pipes open is not waited for") {
  CommandBench bench;

  const ToolOutcome outcome = bench.run(script("sleep 600 & echo done"));

  CHECK(outcome.kind == Kind::succeeded);
  CHECK(outcome.content == "done\n");
}

TEST_CASE("a background process that writes without end does not keep a command from ending") {
  CommandBench bench;

  const ToolOutcome outcome = bench.run(script("yes >&2 & yes & echo $! >/dev/null"));

  CHECK(outcome.kind == Kind::succeeded);
}

TEST_CASE("100 MB of output end up as its beginning, its end and a note of what is missing") {
  CommandBench bench;
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);

  const ToolOutcome outcome = bench.run(with_cap(
      script("echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last"), 10'000));

  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  CHECK(outcome.kind == Kind::succeeded);
  CHECK(outcome.content.size() <= 10'000);
  CHECK(outcome.content.size() > 9'900);
  CHECK(outcome.content.starts_with("first\nxxx"));
  CHECK(outcome.content.ends_with("xxx\nlast\n"));
  CHECK(contains(outcome.content, "\n[… 99990076 bytes cut …]\n"));
  CHECK(outcome.content_length == 100'000'012);
  CHECK(after.ru_maxrss - before.ru_maxrss < 20'000);  // KiB
}

TEST_CASE("a command that never reads 10 MB of input hangs nobody") {
  CommandBench bench;
  const std::string input = "\"" + std::string(10'000'000, 'x') + "\"";

  const ToolOutcome ignoring = bench.run(script("echo done"), invocation_of(input));
  const ToolOutcome closing = bench.run(script("exec <&-; echo done"), invocation_of(input));
  const ToolOutcome sleeping =
      bench.run(with_timeout(script("exec sleep 600"), 300), invocation_of(input));
  const ToolOutcome counting = bench.run(script("wc -c"), invocation_of(input));

  CHECK(ignoring.content == "done\n");
  CHECK(closing.content == "done\n");
  CHECK(sleeping.kind == Kind::timed_out);
  CHECK(counting.content == "10000002\n");
}

TEST_CASE("a closed pipe does not reach the host as SIGPIPE") {
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  struct sigaction before{};
  ::sigaction(SIGPIPE, &by_default, &before);
  CommandBench bench;

  const ToolOutcome outcome =
      bench.run(script("exec <&-; sleep 0.2; echo done"), invocation_of(std::string(1 << 20, '1')));

  CHECK(outcome.content == "done\n");
  ::sigaction(SIGPIPE, &before, nullptr);
}

}  // namespace
}  // namespace pawl::tool_command
