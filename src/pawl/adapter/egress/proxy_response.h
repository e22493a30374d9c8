// The head of a server's answer to a forwarded request, as the client is to see it: the last one on
// its connection, whatever the server thinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::egress {

struct ProxyResponse {
  enum class Verdict : std::uint8_t {
    incomplete,
    interim,  // 1xx: another head follows
    final,
    refused,  // not HTTP/1, a switch of protocols, or over its bound
  };
  Verdict verdict = Verdict::refused;
  std::string head;       // with Connection: close
  std::size_t bytes = 0;  // that the server's own head has
};

// Of the bytes of the connection so far.
ProxyResponse read_proxy_response(std::string_view bytes);

}  // namespace pawl::egress
