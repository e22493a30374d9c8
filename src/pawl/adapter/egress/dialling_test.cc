#include "pawl/adapter/egress/dialling.h"

#include <doctest/doctest.h>
#include <poll.h>

#include "tests/support/raw_server.h"

namespace pawl::egress {
namespace {

Dialled outcome(const IpAddress& address, std::uint16_t port) {
  constexpr int kPatienceMs = 60'000;
  const Descriptor socket = begin_connecting(address, port);
  if (!socket) return Dialled::failed;
  pollfd waiting{socket.number(), POLLOUT, 0};
  REQUIRE(::poll(&waiting, 1, kPatienceMs) == 1);
  return state_of(socket);
}

TEST_CASE("a connection is made, or known to have failed") {
  const RawServer server([](RawConnection& peer) { peer.stall(); });
  CHECK(outcome(IpAddress::v4(127, 0, 0, 1), server.port()) == Dialled::connected);
  CHECK(outcome(IpAddress::v4(127, 0, 0, 9), server.port()) == Dialled::failed);
  CHECK(outcome(*parse_ip("::1"), server.port()) == Dialled::failed);
}

}  // namespace
}  // namespace pawl::egress
