// A TCP connection to an address that was vetted, begun and looked after without waiting.
#pragma once

#include <cstdint>

#include "pawl/base/descriptor.h"
#include "pawl/base/ip_address.h"

namespace pawl::egress {

// Empty: it failed at once. It becomes writable when it is known what came of it.
Descriptor begin_connecting(const IpAddress& address, std::uint16_t port);

enum class Dialled : std::uint8_t { pending, connected, failed };
Dialled state_of(const Descriptor& socket);

}  // namespace pawl::egress
