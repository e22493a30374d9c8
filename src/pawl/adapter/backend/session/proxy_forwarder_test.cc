#include "pawl/adapter/backend/session/proxy_forwarder.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

using contract::holds;

// A proxy that answers the first bytes of each connection, whatever they are, and hangs up.
class EchoProxy {
 public:
  EchoProxy() = default;
  EchoProxy(const EchoProxy&) = delete;
  EchoProxy& operator=(const EchoProxy&) = delete;
  ~EchoProxy() {
    for (std::thread& thread : threads_) thread.join();
  }
  int connect() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    ++connections;
    threads_.emplace_back([end = ends[1]] {
      char bytes[256];
      const ssize_t count = ::read(end, bytes, sizeof bytes);
      std::string answer = "HTTP/1.0 200 OK\r\n\r\nproxied: ";
      if (count > 0) answer.append(bytes, static_cast<std::size_t>(count));
      [[maybe_unused]] const ssize_t written = ::write(end, answer.data(), answer.size());
      ::close(end);
    });
    return ends[0];
  }
  std::atomic<int> connections = 0;

 private:
  std::vector<std::thread> threads_;
};

TEST_CASE("a network of listed hosts is the proxy and nothing else") {
  if (!is_there(&make_namespace_backend)) return;
  EchoProxy proxy;
  BackendOptions options = test_options();
  options.connect_proxy = [&](const ExecutionContext& context) {
    CHECK(context.network.hosts == std::vector<std::string>{"example.org"});
    return proxy.connect();
  };
  Bench bench(&make_namespace_backend, options);
  bench.context.network = {NetworkAccess::limited, {"example.org"}};
  CHECK(holds(bench.bash("echo $HTTPS_PROXY").output, "http://127.0.0.1:3128"));
  const BackendOutcome asked =
      bench.bash("exec 5<>/dev/tcp/127.0.0.1/3128; printf 'GET http://example.org/' >&5; cat <&5");
  CHECK(holds(asked.output, "proxied: GET http://example.org/"));
  CHECK(proxy.connections == 1);
  CHECK(bench.bash("exec 5<>/dev/tcp/1.1.1.1/443").exit_code != 0);
  CHECK(bench.bash("exec 5<>/dev/tcp/127.0.0.1/22").exit_code != 0);
  CHECK(proxy.connections == 1);
}

TEST_CASE("a proxy that cannot be reached hangs up, and is no reason to wait") {
  if (!is_there(&make_namespace_backend)) return;
  BackendOptions options = test_options();
  options.connect_proxy = [](const ExecutionContext&) { return -1; };
  Bench bench(&make_namespace_backend, options);
  bench.context.network = {NetworkAccess::limited, {"example.org"}};
  CHECK(bench.bash("exec 5<>/dev/tcp/127.0.0.1/3128; cat <&5").output.empty());
}

TEST_CASE("a list of hosts that nobody can enforce is refused") {
  for (const MakeBackend make :
       {&make_namespace_backend, &make_landlock_backend, &make_local_backend}) {
    if (!is_there(make)) continue;
    BackendOptions options = test_options();
    if (make != &make_namespace_backend)
      options.connect_proxy = [](const ExecutionContext&) { return -1; };
    Bench bench(make, options);
    bench.context.network = {NetworkAccess::limited, {"example.org"}};
    const auto opened = bench.open();
    REQUIRE_FALSE(opened);
    CHECK(holds(opened.error().message, "namespace"));
  }
}

TEST_CASE("the whole network is the host's") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  bench.context.network.access = NetworkAccess::full;
  if (bench.bash("test -d /proc/self").exit_code != 0) return;  // nothing to look at it with
  const BackendOutcome seen = bench.bash("readlink /proc/self/ns/net");
  std::error_code ignored;
  CHECK(seen.output == std::filesystem::read_symlink("/proc/self/ns/net", ignored).string() + "\n");
  CHECK(bench.bash("python3 -c \"import socket; socket.socket(socket.AF_UNIX)\"").exit_code != 0);
}

}  // namespace
}  // namespace pawl::backend
