#include "pawl/adapter/backend/command/proc_table.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace pawl::tool_command {
namespace {

using Life = ProcessStat::Life;

TEST_CASE("a command name cannot forge the fields after it") {
  const auto stat = parse_process_stat(
      "42 (a) Z 1 (x) S 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 0 0\n");

  REQUIRE(stat);
  CHECK(stat->pid == 42);
  CHECK(stat->parent == 7);
  CHECK(stat->group == 8);
  CHECK(stat->session == 9);
  CHECK(stat->start_ticks == 12345);
  CHECK(stat->life == Life::running);
}

TEST_CASE("a zombie first thread with others running is not an ended process") {
  const auto ended = parse_process_stat("4 (a) Z 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0\n");
  const auto running = parse_process_stat("4 (a) Z 7 8 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 5 0\n");

  REQUIRE(ended);
  REQUIRE(running);
  CHECK(ended->life == Life::ended);
  CHECK(running->life == Life::running);
}

TEST_CASE("what is not a stat file is nothing") {
  for (const char* text : {"", "12", "12 (a", "12 (a)", "12 (a) S 1 2", "x (a) S 1 2 3 4 5 6"}) {
    CHECK_FALSE(parse_process_stat(text));
  }
  CHECK_FALSE(read_process_stat(0));
}

TEST_CASE("the table has this process in it, with its parent") {
  const auto processes = read_processes();

  const auto self = std::find_if(processes.begin(), processes.end(),
                                 [](const ProcessStat& p) { return p.pid == ::getpid(); });

  REQUIRE(self != processes.end());
  CHECK(self->parent == ::getppid());
  CHECK(self->session == ::getsid(0));
  CHECK(self->life == Life::running);
  CHECK_FALSE(read_pid_namespace(::getpid()).empty());
}

TEST_CASE("a variable is found by its whole name") {
  using namespace std::string_view_literals;
  constexpr auto kEnvironment = "AB=1\0A=2=3\0C=\0BROKEN\0"sv;

  CHECK(find_variable(kEnvironment, "A") == "2=3");
  CHECK(find_variable(kEnvironment, "AB") == "1");
  CHECK(find_variable(kEnvironment, "C") == "");
  CHECK_FALSE(find_variable(kEnvironment, "B"));
  CHECK_FALSE(find_variable(kEnvironment, "BROKEN"));
  CHECK_FALSE(find_variable("", "A"));
}

TEST_CASE("the newest number is another one after each birth") {
  const auto before = read_newest_pid();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  const auto after = read_newest_pid();
  CHECK(::waitpid(child, nullptr, 0) == child);

  REQUIRE(before);
  REQUIRE(after);
  CHECK(*before > 0);
  CHECK(*after != *before);
}

}  // namespace
}  // namespace pawl::tool_command
