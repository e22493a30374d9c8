#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "pawl/adapter/backend/command/command_test_support.h"
#include "tests/contract/tool_contract.h"

namespace pawl::tool_command {
namespace {

using Kind = ToolOutcome::Kind;

CommandSpec subject_spec(contract::ToolBehaviour behaviour, ToolSpec tool,
                         const std::string& directory) {
  using contract::ToolBehaviour;
  const auto text = [&]() -> std::string {
    switch (behaviour) {
      case ToolBehaviour::succeeds:
      case ToolBehaviour::reconciles:
        return "printf fine";
      case ToolBehaviour::fails:
        return "exit 3";
      case ToolBehaviour::floods:
        return "head -c 100000 /dev/zero | tr '\\0' x";
      case ToolBehaviour::hangs:
        return "sleep 600 & echo $! >background; echo $$ >main; sleep 600";
    }
    return "";
  };
  if (behaviour == ToolBehaviour::reconciles) tool.effect = EffectClass::reconcilable;
  CommandSpec spec = script(text(), directory);
  spec.status_command = {"printf", R"({"outcome": "done", "result": "fine"})"};
  spec.tool = std::move(tool);
  return spec;
}

TEST_CASE("a command tool keeps the contract of tools") {
  const TestDirectory directory;
  const auto pool = std::make_shared<CommandPool>();
  contract::ToolSubject subject;
  subject.make = [&](TestLoop& loop, contract::ToolBehaviour behaviour, ToolSpec tool) {
    std::filesystem::remove(directory.path("main"));
    return make_command_tool(subject_spec(behaviour, std::move(tool), directory.path()), loop,
                             pool);
  };
  subject.await_started = [&](TestLoop&) { directory.await_pid("main"); };
  subject.left_behind = [&] {
    return is_alive(directory.await_pid("main")) || is_alive(directory.await_pid("background"));
  };

  contract::check_tool_contract(subject);
}

TEST_CASE("arguments go in on standard input and the result comes out on standard output") {
  CommandBench bench;

  const ToolOutcome outcome = bench.run(script("cat; echo noise >&2"), invocation_of(R"({"a":1})"));

  CHECK(outcome.kind == Kind::succeeded);
  CHECK(outcome.content == R"({"a":1})");
  CHECK(outcome.content_length == 7);
}

TEST_CASE("a command that fails says how, with its output and its errors") {
  CommandBench bench;

  const ToolOutcome outcome = bench.run(script("echo half; echo because >&2; exit 3"));

  CHECK(outcome.kind == Kind::failed);
  CHECK(outcome.content ==
        "The command failed with exit code 3.\n--- stdout ---\nhalf\n\n--- stderr ---\nbecause\n");
}

TEST_CASE("what a command had done that a signal ended is not known; its name is") {
  CommandBench bench;

  const ToolOutcome outcome = bench.run(script("kill -9 $$"));

  CHECK(outcome.kind == Kind::aborted);
  CHECK(outcome.content ==
        "The command was ended by signal 9 (SIGKILL). What it had done by then is not known.");
  // What a program that it had started died of is an exit code like any other.
  CHECK(bench.run(script("sh -c 'kill -9 $$'; exit $?")).kind == Kind::failed);
}

TEST_CASE("a command that does not start has failed, with a remedy") {
  const TestDirectory directory;
  directory.write("plain.txt", "no program\n", 0755);
  CommandBench bench;

  const ToolOutcome outcome = bench.run(command({"./plain.txt"}, directory.path()));

  CHECK(outcome.kind == Kind::failed);
  CHECK(contains(outcome.content, "Exec format error"));
  CHECK(contains(outcome.content, "#!/bin/sh"));
}

TEST_CASE("a command sees the environment that it is given, and nothing else of the host's") {
  ::setenv("OPENAI_API_KEY", "canary", 1);
  ::setenv("http_proxy", "canary", 1);
  ::setenv("HOME", "/somewhere", 1);
  ::setenv("USER", "someone", 1);
  ::setenv("TMPDIR", "/tmp", 1);
  CommandBench bench;
  CommandSpec spec = command({"env"});
  spec.environment = {{"EXTRA", "a b"},
                      {"LANG", "de_DE.UTF-8"},
                      {"PAWL_KEY", "forged"},
                      {"PAWL_CALL_MARK", "forged"}};
  ToolInvocation invocation = invocation_of();
  invocation.attempt = 2;

  std::istringstream text(bench.run(std::move(spec), invocation).content);

  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    const bool is_mark = line.starts_with("PAWL_CALL_MARK=");
    lines.push_back(is_mark && !contains(line, "forged") ? "PAWL_CALL_MARK" : line);
  }
  std::sort(lines.begin(), lines.end());
  const std::string own = std::filesystem::read_symlink("/proc/self/exe");
  CHECK(lines == std::vector<std::string>{"EXTRA=a b", "HOME=/somewhere", "LANG=de_DE.UTF-8",
                                          "LC_ALL=C.UTF-8", "PATH=" + std::string(kCommandPath),
                                          "PAWL_ATTEMPT=2", "PAWL_CALL=c7", "PAWL_CALL_MARK",
                                          "PAWL_KEY=00ff7", "PAWL_PROGRAM=" + own,
                                          "PAWL_RUN=" + invocation.run.text, "PAWL_TENANT=default",
                                          "PAWL_TOOL=probe", "TMPDIR=/tmp", "USER=someone"});
}

TEST_CASE("bytes that are not UTF-8 are replaced") {
  CommandBench bench;

  const ToolOutcome outcome = bench.run(script(R"(printf 'a\377b\303')"));

  CHECK(outcome.content == "a\uFFFDb\uFFFD");
}

TEST_CASE("64 commands run at the same time, each with its own input and output") {
  const TestDirectory directory;
  REQUIRE(::mkfifo(directory.path("gate").c_str(), 0600) == 0);
  CommandBench bench;
  std::vector<std::unique_ptr<Call>> calls;
  for (std::uint64_t call = 1; call <= 64; ++call) {
    calls.push_back(bench.start(
        with_timeout(script("cat; echo >ready.$PAWL_CALL; read line <gate", directory.path()),
                     120'000),
        invocation_of(std::to_string(call), call)));
  }
  const auto ready = [&] {
    const auto entries = std::filesystem::directory_iterator(directory.path());
    return std::distance(begin(entries), end(entries)) == 65;
  };

  REQUIRE(eventually(ready));  // all of them wait at the gate
  const Descriptor gate(::open(directory.path("gate").c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::write(gate.number(), std::string(64, '\n').data(), 64) == 64);

  for (std::uint64_t call = 1; call <= 64; ++call) {
    CHECK(bench.finish(*calls[call - 1]).content == std::to_string(call));
  }
}

TEST_CASE("the children of the host and of other commands are left alone") {
  const TestDirectory directory;
  CommandBench bench;
  const auto other = bench.start(script("echo $$ >other; exec sleep 600", directory.path()));
  const pid_t own = ::fork();
  if (own == 0) {
    ::execlp("sleep", "sleep", "600", nullptr);
    ::_exit(127);
  }
  const pid_t other_pid = directory.await_pid("other");

  CHECK(bench.run(with_timeout(script("sleep 600 & sleep 600"), 200)).kind == Kind::timed_out);

  CHECK(is_alive(own));
  CHECK(is_alive(other_pid));
  CHECK(other->callbacks == 0);
  ::kill(own, SIGKILL);
  CHECK(::waitpid(own, nullptr, 0) == own);
}

TEST_CASE("ended commands leave neither zombies nor descriptors") {
  CommandBench bench;
  CHECK(bench.run(script("true")).kind == Kind::succeeded);
  const auto descriptors = [] {
    const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(entries), end(entries));
  };
  const auto before = descriptors();

  for (int i = 0; i < 5; ++i) {
    CHECK(bench.run(script("(setsid true &); (true &); true")).kind == Kind::succeeded);
    CHECK(bench.run(command({"/nowhere"})).kind == Kind::failed);
  }
  bench.tools.clear();

  CHECK(eventually([&] { return descriptors() <= before; }));  // the thread lets go of its job last
  for (const ProcessStat& process : read_processes()) {
    CHECK((process.parent != ::getpid() || process.life == ProcessStat::Life::running));
  }
}

TEST_CASE("a host that ignores SIGCHLD is told so before anything runs") {
  const TestDirectory directory;
  CommandBench bench;
  const auto before = ::signal(SIGCHLD, SIG_IGN);

  const ToolOutcome outcome = bench.run(script("touch ran", directory.path()));

  ::signal(SIGCHLD, before);
  CHECK(outcome.kind == Kind::failed);
  CHECK(contains(outcome.content, "SIGCHLD"));
  CHECK_FALSE(std::filesystem::exists(directory.path("ran")));
}

}  // namespace
}  // namespace pawl::tool_command
