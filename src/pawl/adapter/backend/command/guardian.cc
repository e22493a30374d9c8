#include "pawl/adapter/backend/command/guardian.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <mutex>
#include <string>

#include "pawl/adapter/backend/command/process_tree.h"
#include "pawl/base/descriptor.h"

namespace pawl::tool_command {
namespace {

constexpr const char* kShell = "/bin/sh";

// $1 and $2: the least and the greatest mark; $3: the host's own session, whose groups are not only
// the host's. Group 1 would be everybody. A round that finds nobody twice is the end. A process
// that has ended and that nobody reaps (a container without an init) is nobody; what a process
// calls itself does not count. Its group goes with it, at one stroke: of a line of processes that
// fork and exit for ever no other is met alive, and the newest number is looked at because the list
// of all is too old when it has been gone through.
constexpr const char* kScript = R"sh(
cd /
read -r end
first=$1
last=$2
session=$3
quiet=0
rounds=0
end_if_marked() {
  read -r stat <"/proc/$1/stat" || return
  while read -r max file locks mark hard unit; do
    [ "$max $file $locks" = "Max file locks" ] || continue
    case $mark in *[!0-9]*|"") return ;; esac
    [ "$mark" -ge "$first" ] && [ "$mark" -le "$last" ] || return
    set -- "$1" ${stat##*) }
    [ "$4" -gt 1 ] && [ "$5" != "$session" ] && kill -9 "-$4"
    case $2 in Z|X) return ;; esac
    kill -9 "$1" && quiet=0
    return
  done <"/proc/$1/limits"
}
while [ $quiet -lt 2 ] && [ $rounds -lt 200 ]; do
  rounds=$((rounds + 1))
  quiet=$((quiet + 1))
  for process in /proc/[0-9]*; do end_if_marked "${process#/proc/}"; done
  for look in 1 2 3 4 5 6 7 8 9 10; do
    read -r one five fifteen running newest </proc/loadavg && end_if_marked "$newest"
  done
  [ $rounds -lt 20 ] || sleep 0.1
done 2>/dev/null
)sh";

struct Guardian {
  std::mutex mutex;
  pid_t host = 0;  // whose it is: a host that has forked needs another
  pid_t process = 0;
  Descriptor lifeline;
};

Guardian& guardian() {
  static Guardian instance;
  return instance;
}

Error describe(const char* what) {
  return {ErrorCode::unavailable,
          std::string("cannot start the process that ends commands after this one was killed: ") +
              what};
}

// In a session of its own, so that what a terminal sends to the host does not reach it; with
// nothing of the host's open, so that nobody waits for it.
pid_t spawn(const Descriptor& waits_on, const std::string& first, const std::string& last) {
  const std::string session = std::to_string(::getsid(0));
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, waits_on.number(), 0);
  for (const int output : {1, 2}) {
    ::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  }
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const std::array<const char*, 8> argv{kShell,          "-c",          kScript,
                                        "pawl-guardian", first.c_str(), last.c_str(),
                                        session.c_str(), nullptr};
  const std::array<const char*, 2> environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", nullptr};
  pid_t pid = 0;
  const int failed =
      ::posix_spawn(&pid, kShell, &actions, &attributes, const_cast<char* const*>(argv.data()),
                    const_cast<char* const*>(environment.data()));
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? pid : 0;
}

}  // namespace

Status ensure_guardian() {
  Guardian& own = guardian();
  const std::lock_guard lock(own.mutex);
  if (own.host == ::getpid()) return ok();
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return describe("no pipe (raise the limit on open files)");
  }
  Descriptor waits_on(ends[0]);
  Descriptor lifeline(ends[1]);
  // 0, 1 and 2 are written over in the child.
  if (waits_on.number() < 3) waits_on.reset(::fcntl(waits_on.number(), F_DUPFD_CLOEXEC, 3));
  const MarkRange range = marks_of_host();
  if (!waits_on) return describe("no descriptor (raise the limit on open files)");
  own.process = spawn(waits_on, std::to_string(range.first), std::to_string(range.last));
  if (own.process == 0) return describe("no process, or no /bin/sh");
  own.lifeline = std::move(lifeline);
  own.host = ::getpid();
  return ok();
}

pid_t guardian_process() {
  Guardian& own = guardian();
  const std::lock_guard lock(own.mutex);
  return own.host == ::getpid() ? own.process : 0;
}

}  // namespace pawl::tool_command
