// Two tools over one HttpClient. They are two because what may be done about a lost call is a
// property of a tool: http_fetch (GET, HEAD) is pure and made again, also here, when a server says
// that it is busy; http_post is `once` and never made again, unless servers take a key.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "pawl/port/http.h"
#include "pawl/tool.h"

namespace pawl {

inline constexpr std::array<std::string_view, 2> kHttpToolNames = {"http_fetch", "http_post"};

struct HttpToolOptions {
  std::int64_t timeout_ms = kToolTimeoutDefaultMs;  // of a call, over redirects and attempts
  std::uint64_t body_bytes_max = 4U << 20U;         // that a call may ask for
  std::uint64_t body_bytes_default = 48U << 10U;    // where it does not ask
  std::uint64_t output_bytes_max = kToolOutputDefaultBytes;
  std::uint32_t redirects_max = 5;
  // Whether http_post sends the call's key as Idempotency-Key, which makes it `idempotent`. Only
  // for servers that are known to honour it.
  enum class PostKey : std::uint8_t { none, header } post_key = PostKey::none;
};

inline constexpr int kHttpAttemptsMax = 3;  // of one call, where it may be made again at all
inline constexpr std::int64_t kHttpPauseMs = 250;
inline constexpr std::int64_t kHttpRetryAfterMaxMs =
    10'000;  // a longer wait is the model's to make

// The client must be one that vets what it connects to, and follows redirects: the tools ask for
// redirects, which a client that does not vet them refuses. The result is a JSON object, see
// docs/egress.md.
std::shared_ptr<Tool> make_http_fetch(Loop& loop, std::shared_ptr<HttpClient> client,
                                      HttpToolOptions options = {});
std::shared_ptr<Tool> make_http_post(Loop& loop, std::shared_ptr<HttpClient> client,
                                     HttpToolOptions options = {});

}  // namespace pawl
