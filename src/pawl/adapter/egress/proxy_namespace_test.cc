// H7: a process in a network namespace of its own has no way out but the proxy, which serves a
// listening socket that was made in there.
#include <doctest/doctest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <string>

#include "pawl/adapter/egress/proxy_test_support.h"
#include "pawl/base/descriptor.h"

namespace pawl {
namespace {

// What the process in the namespace says with its exit code.
constexpr int kThrough = 0;
constexpr int kNoNamespace = 77;
constexpr int kNoListener = 2;
constexpr int kFoundAnotherWay = 3;
constexpr int kNotThrough = 4;

bool send_descriptor(int channel, int fd) {
  char byte = 'x';
  iovec piece{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  return ::sendmsg(channel, &message, MSG_NOSIGNAL) == 1;
}

// Empty: the other end is gone.
Descriptor receive_descriptor(int channel) {
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  if (::recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1) return {};
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS) return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
  return Descriptor(fd);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool raise_loopback() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return fd >= 0 && ::ioctl(fd, SIOCSIFFLAGS, &request) == 0;
}

int connected_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? fd : -1;
}

// In a child of a process with threads: system calls and nothing else.
int live_in_namespace(int channel, std::uint16_t server_port, const std::string& request) {
  if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    return kNoNamespace;
  }
  if (!raise_loopback()) return kNoNamespace;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, size) != 0 || ::listen(listener, 4) != 0 ||
      ::getsockname(listener, generic, &size) != 0 || !send_descriptor(channel, listener)) {
    return kNoListener;
  }
  if (ntohs(address.sin_port) != server_port && connected_to(server_port) >= 0) {
    return kFoundAnotherWay;
  }
  const int proxy = connected_to(ntohs(address.sin_port));
  constexpr timeval kPatience{60, 0};
  ::setsockopt(proxy, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  if (::send(proxy, request.data(), request.size(), MSG_NOSIGNAL) < 0) return kNotThrough;
  constexpr std::size_t kSeen = 12;
  char answer[kSeen];
  if (::recv(proxy, answer, kSeen, MSG_WAITALL) != kSeen) return kNotThrough;
  return std::memcmp(answer, "HTTP/1.1 200", kSeen) == 0 ? kThrough : kNotThrough;
}

int outcome_in_namespace(ProxyStage& stage, const std::string& request) {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const std::uint16_t port = stage.server.port();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    ::_exit(live_in_namespace(ends[1], port, request));
  }
  theirs.reset();
  Descriptor listening = receive_descriptor(ours.number());
  std::unique_ptr<EgressProxy::Listener> listener;
  if (listening) listener = stage.proxy->serve(listening.release());
  int status = 0;
  stage.until([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("H7: out of a network namespace only through the proxy, and only to listed hosts") {
  ProxyStage stage;
  stage.resolver->knows("allowed.test", {{"127.0.0.1"}});
  const int outcome = outcome_in_namespace(stage, stage.forward_head());
  if (outcome == kNoNamespace) {
    MESSAGE("skipped: no network namespace may be made here");
    return;
  }
  CHECK(outcome == kThrough);
  CHECK(stage.server.connections() == 1);
  CHECK(outcome_in_namespace(stage, "GET http://evil.test/ HTTP/1.1\r\n\r\n") == kNotThrough);
  CHECK(stage.server.connections() == 1);
}

}  // namespace
}  // namespace pawl
