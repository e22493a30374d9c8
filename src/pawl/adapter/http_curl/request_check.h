// What a request may look like before libcurl sees it, and how it is named in messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/port/http.h"
#include "pawl/result.h"

namespace pawl::http_curl {

inline constexpr std::size_t kUrlBytesMax = 8U << 10U;
inline constexpr std::size_t kMethodBytesMax = 16;
inline constexpr std::size_t kRequestHeadersMax = 128;
inline constexpr std::size_t kRequestHeaderBytesMax = 64U << 10U;  // names and values together
inline constexpr std::uint64_t kRequestBodyBytesMax = 256U << 20U;

// Refuses what could make two requests of one (CR, LF, NUL), what only the client may say
// (Content-Length, Transfer-Encoding), and what is over a bound.
Status check_request(const HttpRequest& request);

// "https://host:port": where the connection goes to.
std::string origin_of(std::string_view url);

// Without what may be secret: user, password, query, fragment.
std::string shown_url(std::string_view url);

}  // namespace pawl::http_curl
