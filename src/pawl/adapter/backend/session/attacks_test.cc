// Attacks beside the corpus of escapes_test.cc: what each of them got through before it was mended
// is in docs/sandbox.md.

#include <mqueue.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pawl/adapter/backend/session/attack_attempts_test.h"
#include "pawl/adapter/backend/session/attempts_test_support.h"

namespace pawl::backend {
namespace {

using contract::holds;
using contract::read_file;
using contract::write_file;
using Kind = BackendOutcome::Kind;

// What other programs of the same user keep where namespaces and Landlock do not look.
class BusyHost {
 public:
  explicit BusyHost(const std::string& workspace) : unix_path_(workspace + "/datagrams.sock") {
    put_secret(outside);
    named_ = bind_unix(SOCK_DGRAM, unix_path_, UnixName::path);
    REQUIRE(::chmod(unix_path_.c_str(), 0777) == 0);
    abstract_ = bind_unix(SOCK_DGRAM, abstract_name_, UnixName::abstract);
    key_ = static_cast<key_t>(0x50000000 + ::getpid());
    memory_ = ::shmget(key_, 4096, IPC_CREAT | 0666);
    mq_attr small{};
    small.mq_maxmsg = 1;
    small.mq_msgsize = 16;
    const mqd_t queue = ::mq_open(queue_name_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666, &small);
    if (queue >= 0) ::mq_close(queue);
  }
  BusyHost(const BusyHost&) = delete;
  BusyHost& operator=(const BusyHost&) = delete;
  ~BusyHost() {
    if (memory_ >= 0) ::shmctl(memory_, IPC_RMID, nullptr);
    ::mq_unlink(queue_name_.c_str());
  }

  Words arguments() const {
    return {std::to_string(::getpid()), outside.path(),       unix_path_, abstract_name_,
            std::to_string(key_),       queue_name_.substr(1)};
  }
  bool was_reached() const {
    char byte = 0;
    return ::recv(named_.number(), &byte, 1, MSG_DONTWAIT) > 0 ||
           ::recv(abstract_.number(), &byte, 1, MSG_DONTWAIT) > 0;
  }

  contract::ContractDirectory outside;

 private:
  std::string unix_path_;
  std::string abstract_name_ = "pawl-attack-" + std::to_string(::getpid());
  std::string queue_name_ = "/pawl-attack-" + std::to_string(::getpid());
  Descriptor named_, abstract_;
  key_t key_ = 0;
  int memory_ = -1;
};

void check_attacks(MakeBackend make, NetworkAccess network) {
  if (!is_there(make)) return;
  Bench bench(make);
  adapt_to(make, bench);
  bench.context.network.access = network;
  const BusyHost host(bench.directory.path());
  const Results results = run_attempts(bench, kAttackAttempts, host.arguments());
  CHECK(results.size() >= (is_container(make) ? 60U : 70U));
  check_refused(results);
  CHECK_FALSE(host.was_reached());
  check_left_alone(host.outside);
}

TEST_CASE("none of the attempts at the host's processes works behind namespaces") {
  check_attacks(&make_namespace_backend, NetworkAccess::none);
  check_attacks(&make_namespace_backend, NetworkAccess::full);
}

TEST_CASE("none of the attempts at the host's processes works behind Landlock alone") {
  check_attacks(&make_landlock_backend, NetworkAccess::none);
  check_attacks(&make_landlock_backend, NetworkAccess::full);
}

TEST_CASE("none of the attempts at the host's processes works in a container") {
  check_attacks(&make_container_backend, NetworkAccess::none);
}

TEST_CASE("none of the attempts to carry a protected place away works from above it") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const std::string root = bench.directory.path();
  const std::string project = root + "/a/project";
  std::filesystem::create_directories(project + "/.git/hooks");
  std::filesystem::create_directories(root + "/b/reference");
  std::filesystem::create_directories(root + "/deep/er");
  write_file(root + "/deep/er/.envrc", "mine\n");
  bench.context.working_directory = project;
  bench.context.read_roots = {root + "/b/reference"};
  for (const std::string& attack :
       {"mv '" + project + "' '" + root + "/elsewhere'", "mv '" + root + "/a' '" + root + "/c'",
        "mv '" + root + "/b' '" + root + "/c'", "rm -rf '" + root + "/b'",
        "cd '" + root + "' && mv deep gone && mkdir -p deep/er && echo evil >deep/er/.envrc",
        "cd '" + root + "/deep' && mv er gone && mkdir er && echo evil >er/.envrc",
        "cd '" + root +
            "'; python3 -c \"import ctypes; l = ctypes.CDLL(None, use_errno=True); "
            "import os; os.makedirs('evil/project'); "
            "exit(l.renameat2(-100, b'evil', -100, b'a', 2) != 0)\""}) {
    CAPTURE(attack);
    CHECK(bench.bash(attack).exit_code != 0);
  }
  const BackendOutcome work =
      bench.bash("cd '" + project + "'; touch ../beside; mkdir ../../new; mv ../beside ../../new");
  CAPTURE(work.output);
  CHECK(work.kind == Kind::ok);
  bench.end();
  CHECK(std::filesystem::exists(project + "/.git/hooks"));
  CHECK(read_file(root + "/deep/er/.envrc") == "mine\n");
  CHECK(std::filesystem::exists(root + "/new/beside"));
}

TEST_CASE("none of the attempts to lead git elsewhere works (B16)") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const std::string root = bench.directory.path();
  std::filesystem::create_directories(root + "/.git/objects");
  std::filesystem::create_directories(root + "/.git/refs");
  std::filesystem::create_directories(root + "/.git/hooks");
  std::filesystem::create_directories(root + "/.git/modules/lib");
  std::filesystem::create_directories(root + "/.git/worktrees/tree");
  write_file(root + "/.git/HEAD", "ref: refs/heads/main\n");
  write_file(root + "/.git/config", "[core]\n\trepositoryformatversion = 0\n");
  for (const std::string attack :
       {"mkdir -p evil; echo ../evil >.git/commondir", "mv .git/commondir x",
        "echo '[core] fsmonitor = x' >.git/config.worktree",
        "echo ../evil >x && mv x .git/commondir", "ln -s ../evil .git/commondir",
        // Of submodules, and of working trees that lie elsewhere.
        "mkdir -p .git/modules/sub", "echo '[core] fsmonitor = x' >.git/modules/lib/config",
        "echo ../../../evil >.git/worktrees/tree/commondir", "mv .git/worktrees .git/w"}) {
    bench.bash(attack);  // in the git directory of the session's own
    CHECK_FALSE(std::filesystem::exists(root + "/.git/commondir"));
  }
  bench.end();
  for (const char* absent : {"commondir", "config.worktree", "modules/sub", "modules/lib/config",
                             "worktrees/tree/commondir", "w"}) {
    CAPTURE(absent);
    CHECK_FALSE(std::filesystem::exists(root + "/.git/" + absent));
  }
}

}  // namespace
}  // namespace pawl::backend
