// Servers of HTTP/2 that others wrote, for tests: node's and nghttp2's.
#pragma once

#include <string>

#include "pawl/adapter/http_curl/authority_test.h"

namespace pawl {

// What the server sends for /body/SEED/BYTES.
inline std::string body_of(std::size_t seed, std::size_t bytes) {
  std::string body(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) {
    body[i] = static_cast<char>('a' + (i * 7 + (i >> 8U) + seed) % 26);
  }
  return body;
}

class NodeServer {
 public:
  explicit NodeServer(const TestAuthority& authority, int streams = 100)
      : child_({"node", source() + "/tests/support/h2_server.mjs", authority / "good.pem",
                authority / "good.key", std::to_string(streams)}) {
    REQUIRE(child_.port() != 0);
  }
  HttpRequest request(const std::string& path) const {
    HttpRequest request =
        contract::get("https://127.0.0.1:" + std::to_string(child_.port()) + path);
    request.version = HttpVersion::two;
    return request;
  }
  void signal(int number) const { child_.signal(number); }
  std::size_t connections() const { return child_.connections(); }

 private:
  static std::string source() {
    const char* const given = std::getenv("PAWL_SOURCE_DIR");
    return given != nullptr ? given : ".";
  }
  ChildServer child_;
};

}  // namespace pawl
