#include "pawl/adapter/egress/redirect.h"

#include <algorithm>
#include <array>

namespace pawl::egress {
namespace {

constexpr int kMovedPermanently = 301;
constexpr int kFound = 302;
constexpr int kSeeOther = 303;
constexpr int kTemporaryRedirect = 307;
constexpr int kPermanentRedirect = 308;

Error refused(std::string why) {
  return {ErrorCode::invalid_argument, std::move(why)};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

template <std::size_t kCount>
bool is_one_of(const std::string& name, const std::array<std::string_view, kCount>& list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

Status check_header(const HttpHeader& header) {
  static constexpr std::array<std::string_view, 10> kOfTheClient = {
      "host",    "connection", "keep-alive", "upgrade",        "te",
      "trailer", "expect",     "via",        "content-length", "transfer-encoding"};
  if (has_control(header.name) || has_control(header.value)) {
    return refused("a control character in a header");
  }
  const std::string name = lower(header.name);
  if (is_one_of(name, kOfTheClient) || name.starts_with("proxy-")) {
    return refused("header " + name + " is the client's to write");
  }
  return ok();
}

// Whether it may go to an origin that the caller did not name. A list of what is harmless, because
// nobody has a list of what is not.
bool may_travel(const HttpHeader& header) {
  static constexpr std::array<std::string_view, 8> kHarmless = {
      "accept",       "accept-language", "cache-control",     "content-language",
      "content-type", "if-none-match",   "if-modified-since", "user-agent"};
  return header.secrecy == HttpHeader::Secrecy::open && is_one_of(lower(header.name), kHarmless);
}

bool is_of_body(const HttpHeader& header) {
  return lower(header.name).starts_with("content-");
}

// 303 always asks for a GET; 301 and 302 do after a POST, as everybody reads them.
bool becomes_get(int status, const std::string& method) {
  if (method == "GET" || method == "HEAD") return false;
  return status == kSeeOther ||
         ((status == kMovedPermanently || status == kFound) && method == "POST");
}

}  // namespace

Result<Hop> first_hop(HttpRequest request) {
  if (has_control(request.method)) return refused("a control character in the method");
  for (const HttpHeader& header : request.headers) PAWL_CHECK(check_header(header));
  const HttpDeadlines& deadlines = request.deadlines;
  if (deadlines.total_ms <= 0) return refused("no total deadline");
  if (deadlines.connect_ms < 0 || deadlines.first_byte_ms < 0 || deadlines.idle_ms < 0) {
    return refused("a negative deadline");
  }
  if (request.address) return refused("the address is the guard's to find");
  PAWL_TRY(Url url, parse_url(request.url));
  request.url = url.text();
  return Hop{std::move(url), std::move(request)};
}

bool is_redirect(int status) {
  return status == kMovedPermanently || status == kFound || status == kSeeOther ||
         status == kTemporaryRedirect || status == kPermanentRedirect;
}

Result<Hop> next_hop(const Hop& from, int status, std::string_view location) {
  auto url = resolve_reference(from.url, location);
  if (!url) return refused("its redirect is unfit: " + url.error().message);
  if (from.url.scheme == "https" && url->scheme != "https") {
    return refused("it redirects from https to http, to " + url->shown());
  }
  Hop next{*std::move(url), from.request};
  next.request.url = next.url.text();
  std::vector<HttpHeader>& headers = next.request.headers;
  if (becomes_get(status, from.request.method)) {
    next.request.method = "GET";
    next.request.body = {};
    std::erase_if(headers, is_of_body);
  }
  if (next.url.origin() == from.url.origin()) return next;
  if (!next.request.body.empty()) {
    return refused("it redirects a request with a body to another origin, " + next.url.shown());
  }
  std::erase_if(headers, [](const HttpHeader& header) { return !may_travel(header); });
  return next;
}

}  // namespace pawl::egress
