#include "pawl/adapter/egress/dialling.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace pawl::egress {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};
SocketAddress socket_address(const IpAddress& address, std::uint16_t port) {
  SocketAddress out;
  if (address.family == IpAddress::Family::v4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes.data(), IpAddress::kV4Bytes);
    std::memcpy(&out.storage, &v4, sizeof v4);
    out.size = sizeof v4;
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, address.bytes.data(), IpAddress::kV6Bytes);
    std::memcpy(&out.storage, &v6, sizeof v6);
    out.size = sizeof v6;
  }
  return out;
}

}  // namespace

Descriptor begin_connecting(const IpAddress& address, std::uint16_t port) {
  const SocketAddress to = socket_address(address, port);
  Descriptor socket(
      ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!socket) return {};
  const int on = 1;
  ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&to.storage);
  if (::connect(socket.number(), generic, to.size) != 0 && errno != EINPROGRESS) return {};
  return socket;
}

Dialled state_of(const Descriptor& socket) {
  int fault = 0;
  socklen_t size = sizeof fault;
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &fault, &size) != 0 || fault != 0) {
    return Dialled::failed;
  }
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof peer;
  const int named = ::getpeername(socket.number(), reinterpret_cast<sockaddr*>(&peer), &peer_size);
  return named == 0 ? Dialled::connected : Dialled::pending;
}

}  // namespace pawl::egress
