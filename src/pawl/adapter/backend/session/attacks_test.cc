// Attacks beside the corpus of escapes_test.cc: what each of them got through before it was mended
// is in docs/sandbox.md.

#include <mqueue.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "pawl/adapter/backend/session/attack_attempts_test.h"
#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract_support.h"

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
    write_file(outside / "secret", "host-secret");
    receive(named_, unix_path_, 0);
    receive(abstract_, abstract_name_, 1);
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

  std::vector<std::string> arguments() const {
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
  static void receive(Descriptor& fd, const std::string& name, std::size_t offset) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + offset, name.data(), name.size());
    fd.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto bytes =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + offset + name.size());
    REQUIRE(::bind(fd.number(), reinterpret_cast<sockaddr*>(&address), bytes) == 0);
    if (offset == 0) REQUIRE(::chmod(name.c_str(), 0777) == 0);
  }

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
  const bool container = make == &make_container_backend;
  if (container) give_away(bench.directory.path());
  if (container) bench.context.environment = {{"PAWL_IN_CONTAINER", "yes"}};
  bench.context.network.access = network;
  const BusyHost host(bench.directory.path());
  std::vector<std::string> argv = {"python3", "-c", kAttackAttempts};
  for (std::string& argument : host.arguments()) argv.push_back(std::move(argument));
  const BackendOutcome outcome = bench.exec(std::move(argv));
  CAPTURE(outcome.output);
  REQUIRE(outcome.kind == Kind::ok);
  const auto results = results_in(outcome.output);
  for (const auto& [name, result] : results) {
    CAPTURE(name);
    CHECK(result != "ok");
  }
  CHECK(results.size() >= (container ? 60U : 70U));
  CHECK_FALSE(host.was_reached());
  CHECK(read_file(host.outside / "secret") == "host-secret");
  CHECK_FALSE(std::filesystem::exists(host.outside / "made"));
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
  bench.context.working_directory = project;
  bench.context.read_roots = {root + "/b/reference"};
  for (const std::string& attack :
       {"mv '" + project + "' '" + root + "/elsewhere'", "mv '" + root + "/a' '" + root + "/c'",
        "mv '" + root + "/b' '" + root + "/c'", "rm -rf '" + root + "/b'",
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
  CHECK(std::filesystem::exists(root + "/new/beside"));
}

TEST_CASE("none of the attempts to lead git elsewhere works (B16)") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const std::string root = bench.directory.path();
  std::filesystem::create_directories(root + "/.git/objects");
  std::filesystem::create_directories(root + "/.git/refs");
  std::filesystem::create_directories(root + "/.git/hooks");
  write_file(root + "/.git/HEAD", "ref: refs/heads/main\n");
  write_file(root + "/.git/config", "[core]\n\trepositoryformatversion = 0\n");
  for (const std::string attack :
       {"mkdir -p evil; echo ../evil >.git/commondir", "rm -f .git/commondir",
        "mv .git/commondir x", "echo '[core] fsmonitor = x' >.git/config.worktree",
        "echo ../evil >x && mv x .git/commondir", "ln -s ../evil .git/commondir"}) {
    CAPTURE(attack);
    CHECK(bench.bash(attack).exit_code != 0);
  }
  // What holds the place does not keep git from working.
  CHECK(bench.bash("! command -v git || git -c safe.directory='*' status").kind == Kind::ok);
  bench.end();
  CHECK_FALSE(std::filesystem::exists(root + "/.git/commondir"));
  CHECK_FALSE(std::filesystem::exists(root + "/.git/config.worktree"));
}

}  // namespace
}  // namespace pawl::backend
