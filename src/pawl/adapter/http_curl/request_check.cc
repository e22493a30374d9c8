#include "pawl/adapter/http_curl/request_check.h"

#include <algorithm>
#include <cctype>

namespace pawl::http_curl {
namespace {

Error refused(std::string why) {
  return {ErrorCode::invalid_argument, std::move(why)};
}

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

bool starts_with_lower(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::equal(lower.begin(), lower.end(), text.begin(), [](char wanted, unsigned char c) {
    return wanted == static_cast<char>(std::tolower(c));
  });
}

bool is_lower(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && starts_with_lower(text, lower);
}

Status check_method(const std::string& method) {
  if (method.size() > kMethodBytesMax || !is_token(method)) return refused("bad method");
  if (is_lower(method, "connect")) return refused("CONNECT is not a request to a server");
  return ok();
}

Status check_url(const std::string& url) {
  if (url.size() > kUrlBytesMax) return refused("URL over its bound");
  if (!starts_with_lower(url, "http://") && !starts_with_lower(url, "https://")) {
    return refused("URL is neither http nor https");
  }
  const auto unfit = [](unsigned char c) { return is_control(c) || c == ' '; };
  if (std::any_of(url.begin(), url.end(), unfit)) return refused("URL with a control or a space");
  return ok();
}

Status check_header(const HttpHeader& header) {
  if (!is_token(header.name)) return refused("bad header name");
  const auto unfit = [](unsigned char c) { return is_control(c) && c != '\t'; };
  if (std::any_of(header.value.begin(), header.value.end(), unfit)) {
    return refused("a control character in the value of header " + header.name);
  }
  if (is_lower(header.name, "content-length") || is_lower(header.name, "transfer-encoding")) {
    return refused("header " + header.name + " is the client's to write");
  }
  return ok();
}

Status check_headers(const std::vector<HttpHeader>& headers) {
  if (headers.size() > kRequestHeadersMax) return refused("too many headers");
  std::size_t bytes = 0;
  for (const HttpHeader& header : headers) {
    PAWL_CHECK(check_header(header));
    bytes += header.name.size() + header.value.size();
  }
  if (bytes > kRequestHeaderBytesMax) return refused("headers over their bound");
  return ok();
}

}  // namespace

Status check_request(const HttpRequest& request) {
  PAWL_CHECK(check_method(request.method));
  PAWL_CHECK(check_url(request.url));
  PAWL_CHECK(check_headers(request.headers));
  if (request.redirects_max > 0) {
    return refused("this client follows no redirects; use one that vets each of them");
  }
  if (request.body.size() > kRequestBodyBytesMax) return refused("body over its bound");
  const HttpDeadlines& deadlines = request.deadlines;
  if (deadlines.total_ms <= 0) return refused("no total deadline");
  if (deadlines.connect_ms < 0 || deadlines.first_byte_ms < 0 || deadlines.idle_ms < 0) {
    return refused("a negative deadline");
  }
  return ok();
}

std::string origin_of(std::string_view url) {
  const std::string shown = shown_url(url);
  const auto scheme = shown.find("://");
  if (scheme == std::string::npos) return shown;
  return shown.substr(0, shown.find_first_of("/\\", scheme + 3));
}

std::string shown_url(std::string_view url) {
  url = url.substr(0, std::min(url.find_first_of("?#"), kUrlBytesMax));
  std::string shown;
  if (const auto scheme = url.find("://"); scheme != std::string_view::npos) {
    shown = url.substr(0, scheme + 3);
    std::transform(shown.begin(), shown.end(), shown.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    url.remove_prefix(scheme + 3);
  }
  const std::string_view authority = url.substr(0, url.find_first_of("/\\"));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  shown += url;
  std::replace_if(shown.begin(), shown.end(), [](unsigned char c) { return is_control(c); }, '?');
  return shown;
}

}  // namespace pawl::http_curl
