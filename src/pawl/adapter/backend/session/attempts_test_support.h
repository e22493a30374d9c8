// What the tests share that run a program of attempts in a sandbox: its first lines, the host that
// it is aimed at, and what is made of its output.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <set>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {

using Words = std::vector<std::string>;
using Results = std::map<std::string, std::string>;

// One attempt a line: "name=ok" when it worked, "name=E13" when the kernel refused with that error
// number.
inline constexpr const char* kAttemptsBegin = R"python(
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, action):
    try:
        action()
        print(name + '=ok', flush=True)
    except OSError as error:
        print('%s=E%d' % (name, error.errno or 0), flush=True)
def number(value, *arguments):
    result = libc.syscall(ctypes.c_long(value), *[ctypes.c_void_p(a) if isinstance(a, int) else a
                                                  for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), 'x')
    return result
def call(value, *arguments):
    return lambda: number(value, *arguments)
)python";

enum class UnixName : std::uint8_t { path, abstract };

// A socket of the host's, which nobody inside may reach.
inline Descriptor bind_unix(int type, const std::string& name, UnixName kind) {
  const std::size_t offset = kind == UnixName::abstract ? 1 : 0;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + offset, name.data(), name.size());
  Descriptor fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + offset + name.size());
  REQUIRE(::bind(fd.number(), reinterpret_cast<sockaddr*>(&address), bytes) == 0);
  return fd;
}

inline bool is_container(MakeBackend make) {
  return make == &make_container_backend;
}

// A container runs as the owner of the workspace, and the program is told where it is.
inline void adapt_to(MakeBackend make, Bench& bench) {
  if (!is_container(make)) return;
  give_away(bench.directory.path());
  bench.context.environment = {{"PAWL_IN_CONTAINER", "yes"}};
}

// `interpreter` runs what comes behind "-c".
inline Results run_attempts(Bench& bench, const char* program, const Words& arguments,
                            Words interpreter = {"python3"}) {
  interpreter.insert(interpreter.end(), {"-c", std::string(kAttemptsBegin) + program});
  interpreter.insert(interpreter.end(), arguments.begin(), arguments.end());
  const BackendOutcome outcome = bench.exec(std::move(interpreter));
  CAPTURE(outcome.output);
  REQUIRE(outcome.kind == BackendOutcome::Kind::ok);
  return results_in(outcome.output);
}

// All but those that are meant to work.
inline void check_refused(const Results& results, const std::set<std::string>& meant = {}) {
  for (const auto& [name, result] : results) {
    CAPTURE(name);
    CAPTURE(result);
    CHECK((result == "ok") == meant.contains(name));
  }
}

// A directory of the host's with a file that is none of a tool's business.
inline void put_secret(const contract::ContractDirectory& outside) {
  contract::write_file(outside / "secret", "host-secret");
}

inline void check_left_alone(const contract::ContractDirectory& outside) {
  CHECK(contract::read_file(outside / "secret") == "host-secret");
  CHECK_FALSE(std::filesystem::exists(outside / "made"));
}

}  // namespace pawl::backend
