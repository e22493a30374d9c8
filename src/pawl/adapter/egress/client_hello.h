// The first message of a TLS client, read as far as the name of the server it wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::egress {

inline constexpr std::size_t kClientHelloBytesMax = 16U << 10U;

struct ClientHello {
  enum class Verdict : std::uint8_t {
    incomplete,  // more bytes are needed
    named,
    nameless,  // whole, without a server name
    refused,   // not TLS, malformed, or over the bound
  };
  Verdict verdict = Verdict::refused;
  std::string name;  // in lower case
};

// Of the bytes of a connection so far.
ClientHello read_client_hello(std::string_view bytes);

}  // namespace pawl::egress
