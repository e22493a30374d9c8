#include "pawl/adapter/backend/command/process_tree.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <functional>
#include <random>
#include <unordered_set>
#include <utility>

#include "pawl/adapter/backend/command/hunt.h"
#include "pawl/adapter/backend/command/proc_table.h"
#include "pawl/base/descriptor.h"

namespace pawl::tool_command {
namespace {

constexpr std::uint64_t kSerialMax = 0xFF'FFFFU;

using Clock = std::chrono::steady_clock;
using Life = ProcessStat::Life;
using Finder = std::function<std::vector<ProcessStat>()>;
using IsMember = std::function<bool(pid_t)>;

constexpr auto kDeathWait = std::chrono::milliseconds(50);  // after SIGKILL, before looking again
constexpr std::size_t kDeathHandlesMax = 64;

// What `is_seed` says yes to, and all that descends from it.
std::vector<ProcessStat> find_family(const std::function<bool(const ProcessStat&)>& is_seed) {
  std::vector<ProcessStat> others = read_processes();
  std::vector<ProcessStat> family;
  std::unordered_set<pid_t> pids;
  const auto belongs = [&](const ProcessStat& process) {
    return pids.contains(process.parent) || (pids.empty() && is_seed(process));
  };
  for (bool grown = true; grown;) {
    const auto rest = std::partition(others.begin(), others.end(),
                                     [&](const ProcessStat& other) { return !belongs(other); });
    grown = rest != others.end();
    for (auto member = rest; member != others.end(); ++member) pids.insert(member->pid);
    family.insert(family.end(), rest, others.end());
    others.erase(rest, others.end());
  }
  return family;
}

bool is_marked(const ProcessStat& process, const TreeMark& mark) {
  if (read_lock_limit(process.pid) == mark.limit) return true;
  return find_variable(read_environment(process.pid), kMarkVariable) == mark.text;
}

bool is_of_tree(const ProcessStat& process, const ProcessTree& tree, pid_t host) {
  if (tree.root != 0 &&
      (process.pid == tree.root || process.session == tree.root || process.group == tree.root)) {
    return true;
  }
  return process.parent == host && is_marked(process, tree.mark);
}

// By pidfd, and only if the pid still means the process that was looked at. Without descriptors to
// spare a kill by number is the lesser evil.
Descriptor signal_process(const ProcessStat& process, int signal) {
  Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  const auto now = read_process_stat(process.pid);
  if (!now || now->start_ticks != process.start_ticks) return Descriptor();
  if (handle) {
    ::syscall(SYS_pidfd_send_signal, handle.number(), signal, nullptr, 0);
  } else {
    ::kill(process.pid, signal);
  }
  return handle;
}

void await_death(const std::vector<Descriptor>& handles) {
  const auto deadline = Clock::now() + kDeathWait;
  for (const Descriptor& handle : handles) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ended{handle.number(), POLLIN, 0};
    ::poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
  }
}

// The processes of this machine.
class Machine final : public HuntingGround {
 public:
  Machine(pid_t root, Finder find, IsMember is_member)
      : root_(root), find_(std::move(find)), is_member_(std::move(is_member)) {}

  std::vector<ProcessStat> look() override { return find_(); }
  bool is_prey(pid_t pid) override { return is_member_(pid); }
  pid_t newest_number() override { return read_newest_pid().value_or(0); }

  void kill_group() override {
    if (root_ != 0) ::kill(-root_, SIGKILL);
  }

  void stop(const ProcessStat& process) override { signal_process(process, SIGSTOP); }

  void kill(const std::vector<ProcessStat>& processes) override {
    std::vector<Descriptor> handles;
    for (const ProcessStat& process : processes) {
      Descriptor handle = signal_process(process, SIGKILL);
      if (handle && handles.size() < kDeathHandlesMax) handles.push_back(std::move(handle));
    }
    await_death(handles);
  }

  void kill_number(pid_t pid) override { ::kill(pid, SIGKILL); }

  void reap(const ProcessStat& process) override {
    if (process.parent != ::getpid()) return;
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(process.pid), &info, WEXITED | WNOHANG);
  }

  bool is_late() override { return Clock::now() >= deadline_; }

 private:
  pid_t root_;
  Finder find_;
  IsMember is_member_;
  Clock::time_point deadline_ = Clock::now() + std::chrono::milliseconds(kKillTimeMaxMs);
};

// "<host pid>.<its start>.<serial>" of a host that does not run any more.
bool is_of_dead_host(std::string_view mark) {
  pid_t host = 0;
  std::uint64_t start = 0;
  const char* end = mark.data() + mark.size();
  const auto pid = std::from_chars(mark.data(), end, host);
  if (pid.ec != std::errc{} || pid.ptr == end || *pid.ptr != '.') return false;
  const auto ticks = std::from_chars(pid.ptr + 1, end, start);
  if (ticks.ec != std::errc{} || ticks.ptr == end || *ticks.ptr != '.') return false;
  const auto now = read_process_stat(host);
  return !now || now->start_ticks != start || now->life == Life::ended;
}

}  // namespace

MarkRange marks_of_host() {
  static const std::uint32_t salt = std::random_device{}() & 0xFFFFU;
  const auto host = static_cast<std::uint32_t>(::getpid());  // below kProcessesMax, 22 bits
  // Above any limit that somebody has set on purpose, and below "unlimited". The host is in it
  // because a forked host goes on with its parent's salt and serial number.
  const std::uint64_t first =
      (std::uint64_t{1} << 62U) | (std::uint64_t{host} << 40U) | (std::uint64_t{salt} << 24U);
  return {first, first | kSerialMax};
}

TreeMark make_tree_mark() {
  static std::atomic<std::uint32_t> serial{0};
  const std::uint64_t limit = marks_of_host().first | (serial.fetch_add(1) & kSerialMax);
  const auto self = read_process_stat(::getpid());
  return {limit, std::to_string(::getpid()) + "." + std::to_string(self ? self->start_ticks : 0) +
                     "." + std::to_string(limit)};
}

Status check_ends_are_told() {
  struct sigaction action{};
  if (::sigaction(SIGCHLD, nullptr, &action) != 0) return ok();
  if (action.sa_handler != SIG_IGN && (action.sa_flags & SA_NOCLDWAIT) == 0) return ok();
  return Error{ErrorCode::invalid_argument,
               "this process ignores SIGCHLD, so that nobody would learn how the command ends; set "
               "it to SIG_DFL or to a handler"};
}

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

std::vector<pid_t> kill_tree(const ProcessTree& tree) {
  const pid_t host = ::getpid();
  const auto find = [&] {
    return find_family([&](const ProcessStat& process) { return is_of_tree(process, tree, host); });
  };
  Machine machine(tree.root, find,
                  [&](pid_t pid) { return read_lock_limit(pid) == tree.mark.limit; });
  return hunt_down(tree.root, machine);
}

std::vector<pid_t> kill_leftovers(const std::string& run, const std::string& key) {
  const std::string here = read_pid_namespace(::getpid());
  const auto is_leftover = [&](const ProcessStat& process) {
    const std::string environment = read_environment(process.pid);
    const auto mark = find_variable(environment, kMarkVariable);
    // A pid of another namespace says nothing about whether that host lives.
    return mark && find_variable(environment, "PAWL_KEY") == key &&
           find_variable(environment, "PAWL_RUN") == run && is_of_dead_host(*mark) &&
           read_pid_namespace(process.pid) == here;
  };
  const auto is_member = [&](pid_t pid) {
    const auto process = read_process_stat(pid);
    return process && is_leftover(*process);
  };
  Machine machine(0, [&] { return find_family(is_leftover); }, is_member);
  return hunt_down(0, machine);
}

}  // namespace pawl::tool_command
