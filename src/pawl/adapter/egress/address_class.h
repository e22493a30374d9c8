// Whether an address is one of the public Internet. IPv6 addresses that carry an IPv4 address lead
// to it (through the kernel, a relay or a translator), so they are what it is.
#pragma once

#include <string>

#include "pawl/base/ip_address.h"

namespace pawl::egress {

struct AddressClass {
  enum class Kind { global, special } kind = Kind::special;
  std::string what;  // of special ones: "loopback (127.0.0.0/8)"
};

AddressClass classify(const IpAddress& address);

}  // namespace pawl::egress
