// The HTTP client on libcurl, driven by the host's loop: no thread of its own but those of name
// resolution.
//
// Certificates are always verified, redirects are not followed, nothing but http and https is
// spoken, and there are no cookies. Proxies are taken from the environment (http_proxy,
// HTTPS_PROXY, ALL_PROXY, NO_PROXY), as curl does, but not for a request that is pinned to an
// address. gzip and deflate are decompressed.
//
// HTTP/1.1 is libcurl's, one request at a time on a connection. HTTP/2 (HttpRequest::version) is
// nghttp2's on connections that libcurl makes: many requests on each, nothing compressed. See
// h2_link.h.
//
// A request on a kept connection that turns out to be closed, before any byte of a response, is
// sent once more by libcurl on a new one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "pawl/loop.h"
#include "pawl/port/http.h"

namespace pawl {

struct CurlOptions {
  std::size_t requests_max = 20'000;  // under way; one more is HttpFailure::overloaded
  // That resolve a name or connect to one host at the same time; the others wait for their turn.
  // Each of them may hold a thread of libcurl's.
  std::size_t connecting_max = 64;
  // A connection is kept for another request while fewer than this are open, used or not.
  std::size_t connections_kept_max = 256;
  // A file of PEM certificates to trust; empty: what CURL_CA_BUNDLE or SSL_CERT_FILE names, or
  // else the system's.
  std::string ca_bundle;
  std::string user_agent = "pawl";
};

// Used on the loop's thread. The loop outlives the client and its operations; an operation may
// outlive the client.
std::shared_ptr<HttpClient> make_curl_client(SocketLoop& loop, CurlOptions options = {});

}  // namespace pawl
