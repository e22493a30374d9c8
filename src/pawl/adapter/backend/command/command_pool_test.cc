#include "pawl/adapter/backend/command/command_pool.h"

#include <pthread.h>

#include <atomic>
#include <csignal>

#include "pawl/adapter/backend/command/command_test_support.h"
#include "pawl/adapter/backend/command/guardian.h"

namespace pawl::tool_command {
namespace {

using Kind = ToolOutcome::Kind;

CommandSpec hanging(const TestDirectory& directory, const std::string& name) {
  return with_timeout(script("echo $$ >" + name + "; exec sleep 600", directory.path()), 600'000);
}

TEST_CASE("commands beyond the maximum wait their turn, and their clock does not run") {
  CommandBench bench;
  bench.pool = std::make_shared<CommandPool>(CommandPoolLimits{1, 10});
  const TestDirectory directory;
  const auto first = bench.start(with_timeout(script("exec sleep 600"), 1500));
  const auto second = bench.start(with_timeout(script("echo second"), 1000));

  CHECK(bench.finish(*second).content == "second\n");
  CHECK(bench.finish(*first).kind == Kind::timed_out);
}

TEST_CASE("a command that waits can be aborted and destroyed without ever starting") {
  CommandBench bench;
  bench.pool = std::make_shared<CommandPool>(CommandPoolLimits{1, 10});
  const TestDirectory directory;
  const auto running = bench.start(hanging(directory, "running"));
  directory.await_pid("running");
  const auto aborted = bench.start(hanging(directory, "aborted"));
  const auto dropped = bench.start(hanging(directory, "dropped"));

  dropped->operation.reset();
  aborted->operation->abort();

  const ToolOutcome outcome = bench.finish(*aborted);
  CHECK(outcome.kind == Kind::aborted);
  CHECK(contains(outcome.content, "before it had started"));
  CHECK(running->callbacks == 0);
  running->operation->abort();
  CHECK(bench.finish(*running).kind == Kind::aborted);
  CHECK(bench.run(script("echo next")).content == "next\n");
  CHECK_FALSE(std::filesystem::exists(directory.path("aborted")));
  CHECK_FALSE(std::filesystem::exists(directory.path("dropped")));
  CHECK(dropped->callbacks == 0);
}

TEST_CASE("a queue that is full refuses, with a remedy") {
  CommandBench bench;
  bench.pool = std::make_shared<CommandPool>(CommandPoolLimits{1, 1});
  const TestDirectory directory;
  const auto running = bench.start(hanging(directory, "running"));
  directory.await_pid("running");
  const auto waiting = bench.start(script("echo waiting"));

  const auto refused = bench.start(script("echo refused"));

  CHECK(refused->callbacks == 0);
  const ToolOutcome outcome = bench.finish(*refused);
  CHECK(outcome.kind == Kind::failed);
  CHECK(contains(outcome.content, "too many commands"));
  running->operation->abort();
  CHECK(bench.finish(*waiting).content == "waiting\n");
}

TEST_CASE("the last one to let go of the pool waits until nothing runs") {
  const TestDirectory directory;
  TestLoop loop;
  auto pool = std::make_shared<CommandPool>();
  auto tool = make_command_tool(hanging(directory, "main"), loop, std::move(pool));
  int callbacks = 0;
  auto operation = tool->invoke(invocation_of(), [&](const ToolOutcome&) { ++callbacks; });
  const pid_t main = directory.await_pid("main");

  tool.reset();
  CHECK(is_alive(main));
  operation.reset();

  CHECK_FALSE(read_process_stat(main));
  loop.run_posted();
  CHECK(callbacks == 0);
}

TEST_CASE("a callback that is already posted is not called after the operation is gone") {
  CommandBench bench;
  const auto call = bench.start(script("true"));
  REQUIRE(eventually([&] { return !bench.loop.idle(); }));

  call->operation.reset();
  bench.loop.run_posted();

  CHECK(call->callbacks == 0);
}

TEST_CASE("the threads of the pool take no signals of the host") {
  struct Probe final : CommandPool::Job {
    sigset_t mask{};
    std::atomic<bool> over{false};
    void run() noexcept override {
      ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      over = true;
    }
  };
  const auto probe = std::make_shared<Probe>();
  CommandPool pool;

  REQUIRE(pool.submit(probe));

  REQUIRE(eventually([&] { return probe->over.load(); }));
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGUSR1, SIGALRM}) {
    CHECK(::sigismember(&probe->mask, signal) == 1);
  }
}

TEST_CASE("operations that come and go at any moment leave nothing behind") {
  CommandBench bench;
  bench.pool = std::make_shared<CommandPool>(CommandPoolLimits{4, 100});
  for (int round = 0; round < 60; ++round) {
    auto call = bench.start(script("sleep 600 & echo $$"));
    if (round % 3 == 0) call->operation->abort();
    if (round % 3 == 1) bench.loop.run_posted();
    if (round % 3 == 2) {
      CHECK(bench.finish(*call).kind == Kind::succeeded);
    }
    call->operation.reset();
    CHECK(call->callbacks <= 1);
  }
  bench.tools.clear();
  bench.pool.reset();

  for (const ProcessStat& process : read_processes()) {
    CHECK((process.parent != ::getpid() || process.pid == guardian_process()));
  }
}

}  // namespace
}  // namespace pawl::tool_command
