#include "pawl/tools/http/http_answer.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "pawl/base/base64.h"
#include "pawl/base/utf8.h"
#include "pawl/json.h"

namespace pawl::tools_http {
namespace {

constexpr std::array<std::string_view, 10> kShownHeaders = {
    "content-type", "content-length", "content-language", "content-disposition", "last-modified",
    "etag",         "date",           "location",         "retry-after",         "link"};
constexpr std::size_t kHeaderBytesMax = 1024;
constexpr int kStatusOkFirst = 200;
constexpr int kStatusOkLast = 299;
constexpr std::size_t kCharacterBytesMax = 4;

// Whether it is UTF-8, but for a character that the end may have cut.
bool is_text(std::string_view body) {
  if (body.find('\0') != std::string_view::npos) return false;
  for (std::size_t cut = 0; cut < kCharacterBytesMax && cut <= body.size(); ++cut) {
    if (is_valid_utf8(body.substr(0, body.size() - cut))) return true;
  }
  return false;
}

std::string_view up_to_character(std::string_view text, std::size_t length) {
  length = std::min(length, text.size());
  while (length > 0 && length < text.size() &&
         (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
    --length;
  }
  return text.substr(0, length);
}

std::string with_body_of(const HttpAnswer& answer, std::size_t length) {
  const HttpResponseHead& head = answer.head;
  const bool cut = answer.is == HttpAnswer::Body::cut || length < answer.body.size();
  JsonWriter json;
  json.begin_object();
  json.field("ok", head.status >= kStatusOkFirst && head.status <= kStatusOkLast);
  json.field("status", head.status).field("url", head.url.empty() ? answer.url : head.url);
  json.field("redirects", head.redirects).key("headers").begin_object();
  for (const std::string_view name : kShownHeaders) {
    if (const std::string* const value = head.find(name)) {
      json.field(name, up_to_character(*value, kHeaderBytesMax));
    }
  }
  json.end_object().field("bytes", answer.bytes).field("truncated", cut);
  if (is_text(answer.body)) {
    json.field("body", up_to_character(answer.body, length));
  } else {
    json.field("body_base64", to_base64(std::string_view(answer.body).substr(0, length)));
  }
  return json.end_object().take();
}

}  // namespace

std::string render(const HttpAnswer& given, std::size_t bytes_max) {
  HttpAnswer answer = given;
  if (answer.body.size() > bytes_max) {
    answer.body.resize(bytes_max);
    answer.is = HttpAnswer::Body::cut;
  }
  std::string whole = with_body_of(answer, answer.body.size());
  if (whole.size() <= bytes_max) return whole;
  // What fits grows with the length of the body: the longest that does.
  std::size_t fits = 0;
  std::size_t too_long = answer.body.size();
  while (too_long - fits > 1) {
    const std::size_t middle = fits + (too_long - fits) / 2;
    (with_body_of(answer, middle).size() <= bytes_max ? fits : too_long) = middle;
  }
  std::string cut = with_body_of(answer, fits);
  if (cut.size() <= bytes_max) return cut;
  return render_failure("the answer does not fit into the output of this tool", bytes_max);
}

std::string render_failure(const std::string& message, std::size_t bytes_max) {
  const auto with = [&](std::size_t length) {
    JsonWriter json;
    json.begin_object().field("ok", false);
    json.field("error", up_to_character(to_valid_utf8(message), length));
    return json.end_object().take();
  };
  std::size_t length = message.size();
  std::string text = with(length);
  while (text.size() > bytes_max && length > 0) text = with(length /= 2);
  return text.size() <= bytes_max ? text : "";
}

}  // namespace pawl::tools_http
