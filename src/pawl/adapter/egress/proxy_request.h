// The head of a request to the proxy: where it wants to go, and what is said there in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/port/egress.h"
#include "pawl/result.h"

namespace pawl::egress {

inline constexpr std::size_t kProxyHeadBytesMax = 16U << 10U;
inline constexpr std::size_t kProxyHeadersMax = 100;

struct ProxyRequest {
  enum class Kind : std::uint8_t {
    tunnel,   // CONNECT host:port
    forward,  // GET http://host/path: one request, one answer, and the end
  };
  Kind kind = Kind::tunnel;
  EgressTarget target;
  std::string head;              // of a forwarded request, as the server is to see it
  std::uint64_t body_bytes = 0;  // of a forwarded request
};

// `head` ends with the empty line. A Host header must name the target; headers between the client
// and the proxy are taken out. Anything that two readers could read in two ways is refused:
// Transfer-Encoding, two lengths, folded lines, bare CR or LF, control characters.
Result<ProxyRequest> read_proxy_request(std::string_view head);

}  // namespace pawl::egress
