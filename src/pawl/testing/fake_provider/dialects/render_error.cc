#include <array>
#include <utility>

#include "pawl/testing/fake_provider/dialects/render.h"

namespace pawl::fake {
namespace {

struct TypeOfStatus {
  int status;
  std::string_view anthropic;
  std::string_view openai;
  std::string_view gemini;
};

constexpr std::array<TypeOfStatus, 13> kTypes = {{
    {400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"},
    {401, "authentication_error", "invalid_request_error", "UNAUTHENTICATED"},
    {402, "billing_error", "insufficient_quota", "FAILED_PRECONDITION"},
    {403, "permission_error", "invalid_request_error", "PERMISSION_DENIED"},
    {404, "not_found_error", "invalid_request_error", "NOT_FOUND"},
    {408, "timeout_error", "timeout", "DEADLINE_EXCEEDED"},
    {413, "request_too_large", "invalid_request_error", "INVALID_ARGUMENT"},
    {429, "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"},
    {500, "api_error", "server_error", "INTERNAL"},
    {502, "api_error", "server_error", "UNAVAILABLE"},
    {503, "api_error", "server_error", "UNAVAILABLE"},
    {504, "timeout_error", "server_error", "DEADLINE_EXCEEDED"},
    {529, "overloaded_error", "server_error", "UNAVAILABLE"},
}};

void put_or_null(JsonWriter& json, std::string_view key, const std::string& text) {
  json.key(key);
  if (text.empty()) {
    json.null();
  } else {
    json.string(text);
  }
}

std::string type_of(Vendor vendor, const FakeError& error) {
  return error.type.empty() ? std::string(error_type(vendor, error.status)) : error.type;
}

std::string openai_error(const FakeError& error) {
  JsonWriter json;
  json.begin_object().key("error").begin_object().field("message", error.message);
  json.field("type", type_of(Vendor::openai, error));
  put_or_null(json, "param", error.param);
  put_or_null(json, "code", error.code);
  return json.end_object().end_object().take();
}

std::string anthropic_error(const FakeError& error, const std::string& request_id) {
  JsonWriter json;
  json.begin_object().field("type", "error").key("error").begin_object();
  json.field("type", type_of(Vendor::anthropic, error)).field("message", error.message);
  json.end_object();
  if (!request_id.empty()) json.field("request_id", request_id);
  return json.end_object().take();
}

// Gemini says when to come back in the body, not in a header.
std::string gemini_error(const FakeError& error) {
  JsonWriter json;
  json.begin_object().key("error").begin_object().field("code", error.status);
  json.field("message", error.message).field("status", type_of(Vendor::gemini, error));
  if (error.retry_after) {
    json.key("details").begin_array().begin_object();
    json.field("@type", "type.googleapis.com/google.rpc.RetryInfo");
    json.field("retryDelay", *error.retry_after + "s").end_object().end_array();
  }
  return json.end_object().end_object().take();
}

}  // namespace

std::string_view error_type(Vendor vendor, int status) {
  for (const TypeOfStatus& type : kTypes) {
    if (type.status != status) continue;
    if (vendor == Vendor::anthropic) return type.anthropic;
    return vendor == Vendor::gemini ? type.gemini : type.openai;
  }
  if (vendor == Vendor::anthropic) return status < 500 ? "invalid_request_error" : "api_error";
  if (vendor == Vendor::gemini) return status < 500 ? "INVALID_ARGUMENT" : "INTERNAL";
  return status < 500 ? "invalid_request_error" : "server_error";
}

Rendered render_error(Vendor vendor, const FakeError& error, std::uint64_t number) {
  Headers headers = vendor_headers(vendor, number);
  const std::string request_id(find_header(headers, "request-id"));
  if (error.retry_after && vendor != Vendor::gemini) {
    headers.push_back({"retry-after", *error.retry_after});
  }
  switch (vendor) {
    case Vendor::anthropic:
      return json_reply(error.status, std::move(headers), anthropic_error(error, request_id));
    case Vendor::gemini:
      return json_reply(error.status, std::move(headers), gemini_error(error));
    case Vendor::ollama: {
      JsonWriter json;
      json.begin_object().field("error", error.message).end_object();
      return json_reply(error.status, std::move(headers), json.take());
    }
    case Vendor::openai:
      break;
  }
  return json_reply(error.status, std::move(headers), openai_error(error));
}

Frame render_error_event(const ModelRequest& request, const FakeError& error, std::size_t events) {
  switch (request.route.api) {
    case Api::anthropic_messages:
      return {FrameKind::closing, "event: error\ndata: " + anthropic_error(error, {}) + "\n\n"};
    case Api::openai_responses: {
      JsonWriter json;
      json.begin_object().field("type", "error").field("sequence_number", events);
      put_or_null(json, "code", error.code.empty() ? type_of(Vendor::openai, error) : error.code);
      json.field("message", error.message);
      put_or_null(json, "param", error.param);
      return {FrameKind::closing, "event: error\ndata: " + json.end_object().take() + "\n\n"};
    }
    case Api::gemini_generate:
    case Api::gemini_stream:
      return {FrameKind::closing, "data: " + gemini_error(error) + "\r\n\r\n"};
    default:
      return {FrameKind::closing, "data: " + openai_error(error) + "\n\n"};
  }
}

}  // namespace pawl::fake
