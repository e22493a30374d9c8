// The proxy of tests: a server, a resolver and a policy for it on a real loop, and clients that
// block on threads of their own.
#pragma once

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "pawl/adapter/egress/egress_proxy.h"
#include "pawl/adapter/egress/guard.h"
#include "pawl/adapter/egress/resolver_test_support.h"
#include "tests/contract/http_contract_support.h"

namespace pawl {

// A client's blocking end. It must not wait for ever.
class Client {
 public:
  explicit Client(int fd) : fd_(fd) {
    constexpr timeval kPatience{60, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool say(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // To the end of the connection, or to `most` bytes.
  std::string hear(std::size_t most = std::string::npos) const {
    std::string out;
    char buffer[4096];
    while (out.size() < most) {
      const ssize_t got = ::recv(fd_, buffer, std::min(sizeof buffer, most - out.size()), 0);
      if (got <= 0) break;
      out.append(buffer, static_cast<std::size_t>(got));
    }
    return out;
  }
  // To the end of a head.
  std::string hear_head() const {
    std::string out;
    while (out.find("\r\n\r\n") == std::string::npos) {
      const std::string next = hear(1);
      if (next.empty()) break;
      out += next;
    }
    return out;
  }
  void end_saying() const { ::shutdown(fd_, SHUT_WR); }

 private:
  const int fd_;
};

// Says "ok" to every request, or to a ClientHello with an empty line behind it.
inline RawServer::Script remembering(RawServer*& server) {
  return [&server](RawConnection& peer) {
    while (true) {
      const std::string request = peer.read_request();
      if (request.empty()) return;
      server->remember(request);
      peer.say(contract::with_length("ok"));
    }
  };
}

class ProxyStage {
 public:
  explicit ProxyStage(EgressProxyOptions options = {}, RawServer::Script script = {})
      : server(script ? std::move(script) : remembering(self_)),
        resolver(std::make_shared<FakeResolver>(loop)),
        port(std::to_string(server.port())) {
    self_ = &server;
    resolver->knows("allowed.test", {{"127.0.0.1"}, {"10.0.0.1"}});
    const auto policy = parse_egress_policy({"allowed.test:*", "*.other.test", "127.0.0.1:" + port},
                                            {"127.0.0.1:" + port, "127.0.0.9"});
    proxy = std::make_unique<EgressProxy>(loop, make_egress_guard(loop, resolver, *policy, sink()),
                                          options, sink());
  }

  // Runs the loop until the client, on a thread of its own, has ended.
  void with_client(const std::function<void(const Client&)>& script) {
    const auto fd = proxy->connect();
    REQUIRE(fd);
    run([&] { script(Client(*fd)); });
  }
  void run(const std::function<void()>& work) {
    std::atomic<bool> over = false;
    std::thread thread([&] {
      work();
      loop.post([&] { over = true; });
    });
    loop.run_until([&] { return over.load(); });
    thread.join();
  }
  // Of what happens outside of the loop, too.
  void until(const std::function<bool()>& is_so) {
    while (!is_so()) {
      bool over = false;
      const auto timer = loop.after(1, [&] { over = true; });
      loop.run_until([&] { return over; });
    }
  }
  std::string ask(const std::string& request) {
    std::string answer;
    with_client([&](const Client& client) {
      client.say(request);
      answer = client.hear();
    });
    return answer;
  }
  bool told(EgressEvent::Verdict verdict, const std::string& part) const {
    for (const EgressEvent& event : events) {
      if (event.verdict == verdict && event.detail.find(part) != std::string::npos) return true;
    }
    return false;
  }
  std::string connect_head(const std::string& host = "allowed.test") const {
    return "CONNECT " + host + ":" + port + " HTTP/1.1\r\nHost: " + host + ":" + port + "\r\n\r\n";
  }
  std::string forward_head(const std::string& path = "/") const {
    return "GET http://allowed.test:" + port + path + " HTTP/1.1\r\n\r\n";
  }

 private:
  EgressSink sink() {
    return [this](const EgressEvent& event) { events.push_back(event); };
  }
  RawServer* self_ = nullptr;

 public:
  EpollLoop loop;
  RawServer server;
  std::shared_ptr<FakeResolver> resolver;
  const std::string port;
  std::vector<EgressEvent> events;
  std::unique_ptr<EgressProxy> proxy;
};

inline constexpr auto kRefused = EgressEvent::Verdict::refused;
inline constexpr auto kAllowed = EgressEvent::Verdict::allowed;

inline int listen_on_loopback(std::uint16_t& port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(fd, 16) == 0);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace pawl
