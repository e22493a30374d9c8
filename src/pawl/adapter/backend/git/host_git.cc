#include "pawl/adapter/backend/git/host_git.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "pawl/base/describe_errno.h"
#include "pawl/base/descriptor.h"
#include "pawl/base/program_path.h"

namespace pawl::git {
namespace {

constexpr std::string_view kPrograms = "/usr/local/bin:/usr/bin:/bin";
constexpr std::size_t kErrorBytesMax = 300;

// No configuration but the repository's own, no replacement of objects, nothing that asks or
// connects.
const std::vector<std::string>& sterile_environment() {
  static const std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                                       "HOME=/nonexistent",
                                                       "LC_ALL=C",
                                                       "GIT_CONFIG_NOSYSTEM=1",
                                                       "GIT_ATTR_NOSYSTEM=1",
                                                       "GIT_CONFIG_GLOBAL=/dev/null",
                                                       "GIT_CONFIG_SYSTEM=/dev/null",
                                                       "GIT_TERMINAL_PROMPT=0",
                                                       "GIT_ASKPASS=/bin/false",
                                                       "SSH_ASKPASS=/bin/false",
                                                       "GIT_ALLOW_PROTOCOL=none",
                                                       "GIT_NO_LAZY_FETCH=1",
                                                       "GIT_NO_REPLACE_OBJECTS=1",
                                                       "GIT_OPTIONAL_LOCKS=0",
                                                       "GIT_EDITOR=/bin/false",
                                                       "GIT_COMMITTER_NAME=pawl",
                                                       "GIT_COMMITTER_EMAIL=pawl@localhost",
                                                       "GIT_PAGER=cat"};
  return environment;
}

const std::vector<std::string>& sterile_settings() {
  static const std::vector<std::string> settings = {"core.hooksPath=/dev/null",
                                                    "core.fsmonitor=false",
                                                    "core.untrackedCache=false",
                                                    "core.protectHFS=true",
                                                    "core.protectNTFS=true",
                                                    "core.alternateRefsCommand=/bin/true",
                                                    "core.pager=cat",
                                                    "gc.auto=0",
                                                    "maintenance.auto=false",
                                                    "safe.directory=*",
                                                    "protocol.allow=never",
                                                    "fetch.recurseSubmodules=false",
                                                    "submodule.recurse=false",
                                                    "core.splitIndex=false",
                                                    "index.sparse=false",
                                                    "core.attributesFile=/dev/null"};
  return settings;
}

Descriptor memory_file(std::string_view text) {
  Descriptor file(::memfd_create("pawl-git", MFD_CLOEXEC));
  while (file && !text.empty()) {
    const ssize_t count = ::write(file.number(), text.data(), text.size());
    if (count < 0) return Descriptor();
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (file) ::lseek(file.number(), 0, SEEK_SET);
  return file;
}

Result<std::string> content_of(const Descriptor& file) {
  struct stat status{};
  ::fstat(file.number(), &status);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kGitOutputBytesMax) return Error{ErrorCode::limit_exceeded, "git says too much"};
  std::string text(size, '\0');
  const ssize_t count = ::pread(file.number(), text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

// What it exits with; an Error: it did not end in time, and is no more.
Result<int> await(pid_t pid) {
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{handle.number(), POLLIN, 0};
  const bool late =
      !handle || ::poll(&ended, 1, static_cast<int>(kGitTimeMaxMs)) <= 0;  // no signal comes here
  if (late) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (late) return Error{ErrorCode::unavailable, "git did not end"};
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Spawn {
 public:
  Spawn() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addchdir_np(&actions_, "/");
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  void pass(int file, int as) { ::posix_spawn_file_actions_adddup2(&actions_, file, as); }
  Result<pid_t> start(const std::vector<std::string>& argv,
                      const std::vector<std::string>& environment) {
    const auto words = exec_pointers(argv);
    const auto variables = exec_pointers(environment);
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, argv.front().c_str(), &actions_, &attributes_,
                                     const_cast<char* const*>(words.data()),
                                     const_cast<char* const*>(variables.data()));
    if (failed == 0) return pid;
    return Error{ErrorCode::unavailable, argv.front() + ": " + describe_errno(failed)};
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

Result<GitAnswer> spawn_git(const std::vector<std::string>& argv,
                            const std::vector<std::string>& environment, const GitCall& call) {
  const Descriptor input = memory_file(call.input);
  const Descriptor output = memory_file({});
  const Descriptor errors = memory_file({});
  if (!input || !output || !errors) return Error{ErrorCode::unavailable, "no memory for git"};
  Spawn spawn;
  spawn.pass(call.input_file < 0 ? input.number() : call.input_file, STDIN_FILENO);
  spawn.pass(output.number(), STDOUT_FILENO);
  spawn.pass(errors.number(), STDERR_FILENO);
  PAWL_TRY(const pid_t pid, spawn.start(argv, environment));
  GitAnswer answer;
  PAWL_TRY(answer.exit_code, await(pid));
  PAWL_TRY(answer.output, content_of(output));
  PAWL_TRY(answer.errors, content_of(errors));
  answer.errors.resize(std::min({answer.errors.find('\n'), answer.errors.size(), kErrorBytesMax}));
  return answer;
}

// Files that git makes in somebody's repository are theirs, also where the host is root.
void become_owner(const Repository& on, std::vector<std::string>& argv) {
  if (::geteuid() != 0 || on.user == 0) return;
  argv = {
      "/usr/bin/setpriv", "--reuid", std::to_string(on.user), "--regid", std::to_string(on.group),
      "--clear-groups",   "--"};
}

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text(*one);
    // Those that lead git elsewhere are about whoever has started this program.
    if (text.starts_with("GIT_DIR=") || text.starts_with("GIT_WORK_TREE=") ||
        text.starts_with("GIT_INDEX_FILE=") || text.starts_with("GIT_TRACE")) {
      continue;
    }
    environment.emplace_back(text);
  }
  return environment;
}

}  // namespace

Result<HostGit> HostGit::find() {
  HostGit git;
  for (std::string& candidate : program_candidates("git", kPrograms)) {
    if (::access(candidate.c_str(), X_OK) != 0) continue;
    git.program_ = std::move(candidate);
    return git;
  }
  return Error{ErrorCode::unavailable, "this machine has no git"};
}

Result<GitAnswer> HostGit::run(const Repository& on, const GitCall& call) const {
  std::vector<std::string> argv;
  become_owner(on, argv);
  argv.push_back(program_);
  for (const std::string& setting : sterile_settings()) {
    argv.insert(argv.end(), {"-c", setting});
  }
  argv.insert(argv.end(), call.arguments.begin(), call.arguments.end());
  std::vector<std::string> environment = sterile_environment();
  environment.push_back("GIT_DIR=" + on.directory);
  environment.push_back("GIT_WORK_TREE=" + on.work_tree);
  environment.insert(environment.end(), call.environment.begin(), call.environment.end());
  return spawn_git(argv, environment, call);
}

Result<std::string> HostGit::output(const Repository& on, const GitCall& call) const {
  PAWL_TRY(GitAnswer answer, run(on, call));
  if (answer.exit_code == 0) return std::move(answer.output);
  return Error{ErrorCode::conflict, "git " + call.arguments.front() + ": " + answer.errors};
}

Result<std::string> HostGit::settings(const std::string& work_tree) const {
  PAWL_TRY(GitAnswer answer, spawn_git({program_, "-C", work_tree, "-c", "safe.directory=*",
                                        "config", "--list", "-z"},
                                       own_environment(), {}));
  return std::move(answer.output);
}

Result<std::string> HostGit::settings_with_origins(const std::string& work_tree) const {
  PAWL_TRY(GitAnswer answer, spawn_git({program_, "-C", work_tree, "-c", "safe.directory=*",
                                        "config", "--list", "-z", "--show-origin"},
                                       own_environment(), {}));
  if (answer.exit_code != 0) return Error{ErrorCode::unavailable, answer.errors};
  return std::move(answer.output);
}

Result<std::string> HostGit::settings_in(const std::string& file) const {
  PAWL_TRY(GitAnswer answer,
           spawn_git({program_, "config", "--list", "-z", "--no-includes", "--file", file},
                     sterile_environment(), {}));
  if (answer.exit_code == 0) return std::move(answer.output);
  return Error{ErrorCode::invalid_argument, answer.errors};
}

}  // namespace pawl::git
