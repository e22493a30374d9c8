// What HTTP/2 says of a request: which ones it can carry, and their head.
#pragma once

#include <string>

#include "pawl/adapter/http_curl/h2_session.h"
#include "pawl/port/http.h"

namespace pawl::http_curl {

// Over TLS only, and what libcurl does besides is left to libcurl: credentials in the URL, an
// address that was vetted.
bool can_go_by_h2(const HttpRequest& request);

// Nothing compressed is asked for. An error: the URL cannot be read.
Result<H2Head> h2_head(const HttpRequest& request, const std::string& user_agent);

}  // namespace pawl::http_curl
