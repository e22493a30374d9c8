// The input of http_fetch and http_post: its schema, and the request it stands for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/port/http.h"
#include "pawl/result.h"
#include "pawl/tools/http/http_fetch.h"

namespace pawl::tools_http {

enum class HttpToolKind : std::uint8_t { fetch, post };

inline constexpr std::size_t kArgumentHeadersMax = 64;

std::string input_schema(HttpToolKind kind, const HttpToolOptions& options);

struct HttpArguments {
  HttpRequest request;  // deadlines and body_bytes_max are the caller's to set
  std::uint64_t body_bytes_max = 0;
  std::int64_t timeout_ms = 0;
};
// An error names the argument and what it must be.
Result<HttpArguments> read_arguments(std::string_view input, HttpToolKind kind,
                                     const HttpToolOptions& options);

}  // namespace pawl::tools_http
