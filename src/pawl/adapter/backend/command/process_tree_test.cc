#include "pawl/adapter/backend/command/process_tree.h"

#include <sys/wait.h>

#include <csignal>

#include "pawl/adapter/backend/command/child_process.h"
#include "pawl/adapter/backend/command/command_test_support.h"

namespace pawl::tool_command {
namespace {

struct Grown {
  Child child;
  ProcessTree tree;
};

Grown grow(const std::string& text, const TestDirectory& directory) {
  adopt_orphans();
  TreeMark mark = make_tree_mark();
  auto child = start_child(
      {{"sh", "-c", text}, {"PATH=" + std::string(kCommandPath)}, directory.path(), mark});
  REQUIRE_MESSAGE(child, child.error().message);
  const pid_t root = child->pid;
  return {*std::move(child), {root, std::move(mark)}};
}

void reap(const Grown& grown) {
  CHECK(::waitpid(grown.tree.root, nullptr, 0) == grown.tree.root);
}

bool has_children(const Grown& grown) {
  for (const ProcessStat& process : read_processes()) {
    if (process.parent == ::getpid() && read_lock_limit(process.pid) == grown.tree.mark.limit) {
      return true;
    }
  }
  return false;
}

TEST_CASE("marks differ") {
  const TreeMark first = make_tree_mark();
  const TreeMark second = make_tree_mark();

  CHECK(first.limit != second.limit);
  CHECK(first.text != second.text);
  CHECK(first.text.starts_with(std::to_string(::getpid()) + "."));
}

TEST_CASE("a tree of several generations and sessions is killed and reaped") {
  const TestDirectory directory;
  const Grown grown = grow(
      "sh -c 'sh -c \"echo \\$\\$ >deep; sleep 600; :\"; :' & "
      "setsid sh -c 'echo $$ >session; sleep 600; :' & "
      "(env -i setsid sh -c 'echo $$ >orphan; exec sleep 600' &); sleep 600; :",
      directory);
  const std::vector<pid_t> pids{directory.await_pid("deep"), directory.await_pid("session"),
                                directory.await_pid("orphan")};

  CHECK(kill_tree(grown.tree).empty());

  for (const pid_t pid : pids) CHECK_FALSE(is_alive(pid));
  reap(grown);
  CHECK_FALSE(has_children(grown));
}

TEST_CASE("a tree is killed after its root has gone, by its mark") {
  const TestDirectory directory;
  Grown grown = grow("(setsid sh -c 'echo $$ >orphan; exec sleep 600' &)", directory);
  const pid_t orphan = directory.await_pid("orphan");
  reap(grown);
  CHECK(is_alive(orphan));

  grown.tree.root = 0;
  CHECK(kill_tree(grown.tree).empty());

  CHECK_FALSE(read_process_stat(orphan));
}

TEST_CASE("a process that starts its children anew does not outlive the kill") {
  const TestDirectory directory;
  const Grown grown = grow(
      "setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >keeper; "
      "while :; do setsid sh -c \"echo x >>born; exec sleep 600\" & wait $!; done' & "
      "wait",
      directory);
  const pid_t keeper = directory.await_pid("keeper");
  REQUIRE(eventually([&] { return !directory.read("born").empty(); }));

  CHECK(kill_tree(grown.tree).empty());

  CHECK_FALSE(is_alive(keeper));
  reap(grown);
  CHECK_FALSE(has_children(grown));
}

// It forks, its parent exits, and so on: its pid is not the same for a millisecond.
std::string wanderer(const std::string& at_each_step) {
  return "exec perl -e 'use POSIX; open F, \">on\"; print F \"$$\\n\"; close F; "
         "while (1) { exit 0 if fork; " +
         at_each_step + " }'";
}

TEST_CASE("a process that is never the same for long does not outlive the kill") {
  for (const char* at_each_step : {"", "POSIX::setsid();"}) {
    const TestDirectory directory;
    const Grown grown = grow(wanderer(at_each_step), directory);
    directory.await_pid("on");

    CHECK(kill_tree(grown.tree).empty());

    reap(grown);
    CHECK_FALSE(has_children(grown));
  }
}

TEST_CASE("other trees and other children are not touched") {
  const TestDirectory directory;
  const Grown kept = grow("echo $$ >kept; exec sleep 600", directory);
  const Grown killed = grow("echo $$ >killed; exec sleep 600", directory);
  directory.await_pid("kept");
  directory.await_pid("killed");

  CHECK(kill_tree(killed.tree).empty());

  CHECK(is_alive(kept.tree.root));
  CHECK_FALSE(is_alive(killed.tree.root));
  CHECK(kill_tree(kept.tree).empty());
  reap(kept);
  reap(killed);
}

TEST_CASE("what a living host runs for the same call is no leftover") {
  const TestDirectory directory;
  adopt_orphans();
  TreeMark mark = make_tree_mark();
  auto child = start_child({{"sh", "-c", "echo $$ >up; exec sleep 600"},
                            {"PATH=" + std::string(kCommandPath), "PAWL_RUN=r", "PAWL_KEY=k"},
                            directory.path(),
                            mark});
  REQUIRE(child);
  directory.await_pid("up");

  CHECK(kill_leftovers("r", "k").empty());

  CHECK(is_alive(child->pid));
  CHECK(kill_tree({child->pid, mark}).empty());
  CHECK(::waitpid(child->pid, nullptr, 0) == child->pid);
}

TEST_CASE("a leftover is of this call, and of a host that is gone although its pid is used again") {
  const TestDirectory directory;
  adopt_orphans();
  TreeMark mark = make_tree_mark();
  mark.text = std::to_string(::getpid()) + ".1.7";  // nobody started that early
  auto child = start_child({{"sh", "-c", "echo $$ >up; exec sleep 600"},
                            {"PATH=" + std::string(kCommandPath), "PAWL_RUN=r", "PAWL_KEY=k"},
                            directory.path(),
                            mark});
  REQUIRE(child);
  directory.await_pid("up");

  CHECK(kill_leftovers("another", "k").empty());
  CHECK(kill_leftovers("r", "another").empty());
  CHECK(is_alive(child->pid));

  CHECK(kill_leftovers("r", "k").empty());
  CHECK_FALSE(is_alive(child->pid));
  CHECK(kill_tree({child->pid, mark}).empty());
  ::waitpid(child->pid, nullptr, 0);
}

}  // namespace
}  // namespace pawl::tool_command
