#include "pawl/adapter/backend/command/child_process.h"

#include <sys/wait.h>

#include <csignal>
#include <sstream>

#include "pawl/adapter/backend/command/command_test_support.h"

namespace pawl::tool_command {
namespace {

ChildPlan plan_of(std::vector<std::string> argv, std::string directory = "") {
  return {std::move(argv),
          {"PATH=" + std::string(kCommandPath)},
          std::move(directory),
          make_tree_mark()};
}

// Runs it to its end and returns what it wrote.
std::string output_of(const ChildPlan& plan) {
  auto child = start_child(plan);
  REQUIRE_MESSAGE(child, child.error().message);
  child->input.reset();
  std::string text;
  for (;;) {
    std::array<char, 4096> chunk{};
    pollfd ready{child->output.number(), POLLIN, 0};
    REQUIRE(::poll(&ready, 1, 30'000) == 1);
    const ssize_t count = ::read(child->output.number(), chunk.data(), chunk.size());
    if (count <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
  CHECK(::waitpid(child->pid, nullptr, 0) == child->pid);
  return text;
}

std::string failure_of(const ChildPlan& plan) {
  auto child = start_child(plan);
  REQUIRE_FALSE(child);
  return child.error().message;
}

TEST_CASE("a child's input is in the pipe before it starts, so that no death of its host cuts it") {
  for (const std::size_t size : {std::size_t{12}, std::size_t{100'000}, kInputBytesBefore}) {
    const std::string input(size, 'x');
    ChildPlan plan = plan_of({"wc", "-c"});
    plan.input = input;

    auto child = start_child(plan);

    REQUIRE(child);
    CHECK(child->input_sent == size);
    CHECK_FALSE(child->input);
    CHECK(::waitpid(child->pid, nullptr, 0) == child->pid);
    CHECK(output_of(plan) == std::to_string(size) + "\n");
  }
}

TEST_CASE("more input than that is left to whoever runs the child") {
  const std::string input(3 * kInputBytesBefore, 'x');
  ChildPlan plan = plan_of({"cat"});
  plan.input = input;

  auto child = start_child(plan);

  REQUIRE(child);
  CHECK(child->input_sent < input.size());
  CHECK(child->input);
  ::kill(child->pid, SIGKILL);
  CHECK(::waitpid(child->pid, nullptr, 0) == child->pid);
}

TEST_CASE("a child has the descriptors 0, 1 and 2 and no other") {
  const Descriptor leaky(::fcntl(0, F_DUPFD, 77));  // without FD_CLOEXEC
  REQUIRE(leaky);

  std::istringstream lines(output_of(plan_of({"ls", "-l", "/proc/self/fd"})));

  std::vector<std::string> numbers;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" -> ");
    if (arrow == std::string::npos || contains(line, "/fd")) continue;  // the listing's own
    numbers.push_back(line.substr(line.rfind(' ', arrow - 1) + 1, 1));
  }
  CHECK(numbers == std::vector<std::string>{"0", "1", "2"});
}

TEST_CASE("a child has default signals, whatever the host does with them") {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto hup = ::signal(SIGHUP, SIG_IGN);

  const std::string text = output_of(plan_of({"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}));

  ::signal(SIGHUP, hup);
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, &before, &now);
  CHECK(text == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  CHECK(::sigismember(&now, SIGUSR1) == 1);  // the host's mask is what it was
  CHECK(::sigismember(&now, SIGUSR2) == ::sigismember(&before, SIGUSR2));
}

TEST_CASE("a child leads a session of its own, without a terminal and without core dumps") {
  const std::string text = output_of(plan_of({"sh", "-c", "ulimit -c; cat /proc/$$/stat"}));

  CHECK(text.starts_with("0\n"));
  const auto stat = parse_process_stat(std::string_view(text).substr(2));
  REQUIRE(stat);
  CHECK(stat->session == stat->pid);
  CHECK(stat->group == stat->pid);
  CHECK(stat->parent == ::getpid());
  CHECK(contains(text, " " + std::to_string(stat->session) + " 0 -1 "));  // tty_nr, tpgid
}

TEST_CASE("a child works in its directory, and finds its program there or on PATH") {
  const TestDirectory directory;
  directory.write("here.sh", "#!/bin/sh\npwd -P\n", 0755);
  const std::string path = std::filesystem::canonical(directory.path());

  CHECK(output_of(plan_of({"./here.sh"}, directory.path())) == path + "\n");
  CHECK(output_of(plan_of({"pwd", "-P"}, directory.path())) == path + "\n");
  CHECK(output_of(plan_of({directory.path("here.sh")})) != path + "\n");
  CHECK(contains(failure_of(plan_of({"here.sh"}, directory.path())), "No such file"));
}

TEST_CASE("a plan that is no command is refused") {
  using namespace std::string_literals;
  CHECK(contains(failure_of(plan_of({})), "empty"));
  CHECK(contains(failure_of(plan_of({""})), "empty"));
  CHECK(contains(failure_of(plan_of({"true", "a\0b"s})), "NUL"));
  CHECK(contains(failure_of(plan_of({"true"}, "a\0b"s)), "NUL"));
  CHECK(contains(failure_of(plan_of({"true", std::string(1 << 20, 'x')})), "standard input"));
}

}  // namespace
}  // namespace pawl::tool_command
