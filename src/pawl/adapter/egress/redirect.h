// What a guarded request may say, and what becomes of it when a server sends it elsewhere. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/base/url.h"
#include "pawl/port/http.h"
#include "pawl/result.h"

namespace pawl::egress {

inline constexpr std::uint32_t kRedirectsMax = 20;  // whatever a request asks for

// A request with its URL read. `request.url` is the text of `url`.
struct Hop {
  Url url;
  HttpRequest request;
};

// Reads the URL, and refuses headers that say where the request goes or how it is framed (Host,
// Connection, Proxy-*, Upgrade, ...), and control characters anywhere.
Result<Hop> first_hop(HttpRequest request);

// 301, 302, 303, 307, 308: those that lead somewhere else by their Location.
bool is_redirect(int status);

// Refuses a step from https to http, and one that would give a body to another origin. To another
// origin only headers go that can hold no secret.
Result<Hop> next_hop(const Hop& from, int status, std::string_view location);

}  // namespace pawl::egress
