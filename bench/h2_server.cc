#include "bench/h2_server.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "pawl/result.h"

namespace pawl::bench {
namespace {

[[noreturn]] void serve(const std::string& directory, const HttpServerPlan& plan) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string key = directory + "/key.pem";
  const std::string certificate = directory + "/cert.pem";
  const std::string deltas = std::to_string(plan.deltas);
  const std::string interval = std::to_string(plan.interval_ms);
  ::execlp("node", "node", PAWL_BENCH_DIRECTORY "/h2_server.js", key.c_str(), certificate.c_str(),
           deltas.c_str(), interval.c_str(), nullptr);
  ::_exit(1);
}

}  // namespace

H2ServerProcess::H2ServerProcess(HttpServerPlan plan) {
  const std::string command = fmt::format(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
      "/CN=bench -addext subjectAltName=IP:127.0.0.1 -keyout {0}/key.pem -out {0}/cert.pem "
      "2>/dev/null",
      directory_.path());
  const bool certified = std::system(command.c_str()) == 0;
  std::array<int, 2> orders{};
  std::array<int, 2> said{};
  PAWL_ASSERT(::pipe(orders.data()) == 0 && ::pipe(said.data()) == 0);
  pid_ = ::fork();
  PAWL_ASSERT(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(orders[0], STDIN_FILENO);
    ::dup2(said[1], STDOUT_FILENO);
    for (const int fd : {orders[0], orders[1], said[0], said[1]}) ::close(fd);
    serve(directory_.path(), plan);
  }
  ::close(orders[0]);
  ::close(said[1]);
  orders_ = orders[1];
  std::array<char, 16> line{};
  if (!certified || ::read(said[0], line.data(), line.size() - 1) <= 0) {
    fmt::print(stderr, "no server of HTTP/2: it needs node and openssl\n");
    std::exit(1);
  }
  ::close(said[0]);
  port_ = static_cast<std::uint16_t>(std::strtoul(line.data(), nullptr, 10));
}

H2ServerProcess::~H2ServerProcess() {
  ::close(orders_);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string H2ServerProcess::url(const std::string& path) const {
  return "https://127.0.0.1:" + std::to_string(port_) + path;
}

void H2ServerProcess::go() const {
  PAWL_ASSERT(::write(orders_, "g", 1) == 1);
}

}  // namespace pawl::bench
