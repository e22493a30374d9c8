#include "pawl/tools/http/http_arguments.h"

#include <algorithm>

#include "pawl/json.h"

namespace pawl::tools_http {
namespace {

constexpr std::int64_t kMsOfSecond = 1000;

Error wrong(const std::string& what) {
  return {ErrorCode::invalid_argument, what};
}

std::int64_t timeout_max_s(const HttpToolOptions& options) {
  return std::max<std::int64_t>(1, options.timeout_ms / kMsOfSecond);
}

void write_number(JsonWriter& json, std::string_view name, std::string_view description,
                  std::uint64_t most) {
  json.key(name).begin_object().field("type", "integer").field("minimum", 1);
  json.field("maximum", most).field("description", description).end_object();
}

void write_text(JsonWriter& json, std::string_view name, std::string_view description) {
  json.key(name).begin_object().field("type", "string").field("description", description);
  json.end_object();
}

Status read_headers(const Json& value, HttpRequest& request) {
  const JsonObject* const object = value.if_object();
  if (object == nullptr) return wrong("headers must be an object of strings");
  if (object->size() > kArgumentHeadersMax) return wrong("headers: at most 64");
  for (const JsonMember& member : object->members()) {
    const std::string* const text = member.value.if_string();
    if (text == nullptr) return wrong("headers." + member.key + " must be a string");
    request.headers.push_back({member.key, *text});
  }
  return ok();
}

Result<std::uint64_t> read_number(const Json& input, std::string_view name, std::uint64_t most,
                                  std::uint64_t otherwise) {
  const Json* const value = input.find(name);
  if (value == nullptr) return otherwise;
  const auto number = value->as_uint64();
  if (!number || *number == 0 || *number > most) {
    return wrong(std::string(name) + " must be a whole number from 1 to " + std::to_string(most));
  }
  return *number;
}

Status read_method(const Json& input, HttpToolKind kind, HttpRequest& request) {
  request.method = kind == HttpToolKind::post ? "POST" : "GET";
  const Json* const method = input.find("method");
  if (method == nullptr) return ok();
  const std::string* const text = method->if_string();
  if (kind == HttpToolKind::post || text == nullptr || (*text != "GET" && *text != "HEAD")) {
    return wrong("method must be GET or HEAD; to send something use http_post");
  }
  request.method = *text;
  return ok();
}

}  // namespace

std::string input_schema(HttpToolKind kind, const HttpToolOptions& options) {
  JsonWriter json;
  json.begin_object().field("type", "object").key("properties").begin_object();
  write_text(json, "url", "http:// or https://, with everything escaped that must be");
  if (kind == HttpToolKind::fetch) {
    json.key("method").begin_object().field("type", "string").key("enum").begin_array();
    json.string("GET").string("HEAD").end_array().end_object();
  } else {
    write_text(json, "body", "sent as it is; say what it is in the header content-type");
  }
  json.key("headers").begin_object().field("type", "object");
  json.field("maxProperties", kArgumentHeadersMax);
  json.key("additionalProperties").begin_object().field("type", "string").end_object();
  json.end_object();
  write_number(json, "max_bytes", "of the body of the answer; the rest is cut",
               options.body_bytes_max);
  write_number(json, "timeout", "in seconds", static_cast<std::uint64_t>(timeout_max_s(options)));
  json.end_object().key("required").begin_array().string("url").end_array();
  json.field("additionalProperties", false).end_object();
  return json.take();
}

Result<HttpArguments> read_arguments(std::string_view text, HttpToolKind kind,
                                     const HttpToolOptions& options) {
  PAWL_TRY(const Json input, parse_json(text));
  HttpArguments out;
  const std::string* const url = input.find_string("url");
  if (url == nullptr) return wrong("url must be a string");
  out.request.url = *url;
  PAWL_CHECK(read_method(input, kind, out.request));
  if (const Json* const headers = input.find("headers")) {
    PAWL_CHECK(read_headers(*headers, out.request));
  }
  if (const Json* const body = input.find("body")) {
    if (kind == HttpToolKind::fetch || !body->is_string()) {
      return wrong("body is a string, and only of http_post");
    }
    out.request.body = body->string();
  }
  PAWL_TRY(out.body_bytes_max,
           read_number(input, "max_bytes", options.body_bytes_max, options.body_bytes_default));
  const auto most_s = static_cast<std::uint64_t>(timeout_max_s(options));
  PAWL_TRY(const std::uint64_t timeout_s, read_number(input, "timeout", most_s, most_s));
  out.timeout_ms = std::min(static_cast<std::int64_t>(timeout_s) * kMsOfSecond, options.timeout_ms);
  out.request.redirects_max = options.redirects_max;
  return out;
}

}  // namespace pawl::tools_http
