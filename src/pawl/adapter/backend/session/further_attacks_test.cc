// Attacks beside escapes_test.cc and attacks_test.cc: at the kernel's rarer interfaces, and at the
// host by what a tool leaves for it.

#include <sys/msg.h>
#include <sys/sem.h>
#include <unistd.h>

#include <csignal>

#include "pawl/adapter/backend/session/attempts_test_support.h"
#include "pawl/adapter/backend/session/further_attempts_test.h"

namespace pawl::backend {
namespace {

using contract::holds;
using contract::read_file;
using contract::write_file;
using Kind = BackendOutcome::Kind;

volatile std::sig_atomic_t signals_seen = 0;

// A host that can be hit by signals, has queues, and a program that nobody may run.
class OpenHost {
 public:
  OpenHost() {
    put_secret(outside);
    write_file(outside / "run", "#!/bin/sh\necho it ran\n");
    REQUIRE(::chmod((outside / "run").c_str(), 0755) == 0);
    REQUIRE(::chmod(outside.path().c_str(), 0755) == 0);
    write_file(reference / "given", "given");
    give_away(reference / "given");  // of whom `landlock` and containers run as
    REQUIRE(::chmod(reference.path().c_str(), 0755) == 0);
    signals_seen = 0;
    before_ = std::signal(SIGUSR2, [](int) { signals_seen = signals_seen + 1; });
    queue_ = ::msgget(key_, IPC_CREAT | 0666);
    semaphore_ = ::semget(key_, 1, IPC_CREAT | 0666);
  }
  OpenHost(const OpenHost&) = delete;
  OpenHost& operator=(const OpenHost&) = delete;
  ~OpenHost() {
    std::signal(SIGUSR2, before_);
    if (queue_ >= 0) ::msgctl(queue_, IPC_RMID, nullptr);
    if (semaphore_ >= 0) ::semctl(semaphore_, 0, IPC_RMID);
  }
  Words arguments() const {
    return {std::to_string(::getpid()), outside.path(), std::to_string(key_), std::to_string(key_),
            reference.path()};
  }
  contract::ContractDirectory outside;
  contract::ContractDirectory reference;

 private:
  key_t key_ = static_cast<key_t>(0x51000000 + ::getpid());
  int queue_ = -1;
  int semaphore_ = -1;
  void (*before_)(int) = nullptr;
};

void check_further(MakeBackend make, NetworkAccess network) {
  if (!is_there(make)) return;
  Bench bench(make);
  adapt_to(make, bench);
  CAPTURE(bench.backend().name());
  const OpenHost host;
  bench.context.network.access = network;
  bench.context.read_roots = {host.reference.path()};
  CHECK(bench.bash("echo x >mine").kind == Kind::ok);
  const Results results = run_attempts(bench, kFurtherAttempts, host.arguments());
  CHECK(results.size() >= 120);
  check_refused(results);
  CHECK(signals_seen == 0);
  CHECK(read_file(host.reference / "given") == "given");
  check_left_alone(host.outside);
}

TEST_CASE("none of the attempts by rare ways works behind namespaces") {
  check_further(&make_namespace_backend, NetworkAccess::none);
  check_further(&make_namespace_backend, NetworkAccess::full);
}

TEST_CASE("none of the attempts by rare ways works behind Landlock alone") {
  check_further(&make_landlock_backend, NetworkAccess::none);
  check_further(&make_landlock_backend, NetworkAccess::full);
}

TEST_CASE("none of the attempts by rare ways works in a container") {
  check_further(&make_container_backend, NetworkAccess::none);
}

}  // namespace
}  // namespace pawl::backend
