// What a model is shown of an HTTP response.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/port/http.h"

namespace pawl::tools_http {

struct HttpAnswer {
  HttpResponseHead head;
  std::string url;   // asked for; the last one is in the head if there were redirects
  std::string body;  // at most what was asked for
  std::uint64_t bytes = 0;
  enum class Body : std::uint8_t { whole, cut } is = Body::whole;
};

// A JSON object of at most `bytes_max` bytes: a body that does not fit is cut. Text is given as
// `body`, anything else in base64 as `body_base64`. Of the headers only those that help, and none
// that may hold a secret (Set-Cookie and the like).
std::string render(const HttpAnswer& answer, std::size_t bytes_max);
std::string render_failure(const std::string& message, std::size_t bytes_max);

}  // namespace pawl::tools_http
