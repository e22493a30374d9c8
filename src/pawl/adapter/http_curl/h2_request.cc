#include "pawl/adapter/http_curl/h2_request.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <string_view>

#include "pawl/adapter/http_curl/libcurl.h"
#include "pawl/adapter/http_curl/request_check.h"

namespace pawl::http_curl {
namespace {

// They are about one connection of HTTP/1.1 (RFC 9113, 8.2.2), or said by pseudo-headers.
constexpr std::array<std::string_view, 9> kNotInH2 = {
    "connection",        "host",   "keep-alive",     "proxy-connection", "te", "upgrade",
    "transfer-encoding", "expect", "accept-encoding"};

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Parts of a URL, as libcurl reads it, so that both protocols ask for the same.
class Url {
 public:
  explicit Url(const std::string& text) {
    fine_ = lib.url_set(url_.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  }
  bool fine() const { return fine_; }
  std::string part(CURLUPart which) const {
    char* found = nullptr;
    if (lib.url_get(url_.get(), which, &found, 0) != CURLUE_OK) return {};
    std::string result(found);
    lib.free(found);
    return result;
  }

 private:
  struct Free {
    void operator()(CURLU* url) const { lib.url_cleanup(url); }
  };
  std::unique_ptr<CURLU, Free> url_{lib.url()};
  bool fine_ = false;
};

std::string path_of(const Url& url) {
  std::string path = url.part(CURLUPART_PATH);
  if (path.empty()) path = "/";
  if (const std::string query = url.part(CURLUPART_QUERY); !query.empty()) path += "?" + query;
  return path;
}

std::string authority_of(const Url& url) {
  const std::string port = url.part(CURLUPART_PORT);
  return url.part(CURLUPART_HOST) + (port.empty() || port == "443" ? "" : ":" + port);
}

}  // namespace

bool can_go_by_h2(const HttpRequest& request) {
  if (request.address || request.redirects_max > 0) return false;
  if (in_lower_case(std::string_view(request.url).substr(0, 8)) != "https://") return false;
  const std::string_view rest = std::string_view(request.url).substr(8);
  return rest.substr(0, rest.find_first_of("/\\?#")).find('@') == std::string_view::npos;
}

Result<H2Head> h2_head(const HttpRequest& request, const std::string& user_agent) {
  const Url url(request.url);
  if (!url.fine()) return Error{ErrorCode::invalid_argument, "not a URL"};
  H2Head head = {{":method", request.method},
                 {":scheme", "https"},
                 {":authority", authority_of(url)},
                 {":path", path_of(url)},
                 {"accept-encoding", "identity"}};
  bool accepts = false;
  bool named = false;
  for (const HttpHeader& header : request.headers) {
    std::string name = in_lower_case(header.name);
    if (std::find(kNotInH2.begin(), kNotInH2.end(), name) != kNotInH2.end()) continue;
    accepts = accepts || name == "accept";
    named = named || name == "user-agent";
    head.emplace_back(std::move(name), header.value);
  }
  if (!accepts) head.emplace_back("accept", "*/*");
  if (!named) head.emplace_back("user-agent", user_agent);
  if (!request.body.empty() || request.method == "POST") {
    head.emplace_back("content-length", std::to_string(request.body.size()));
  }
  return head;
}

}  // namespace pawl::http_curl
