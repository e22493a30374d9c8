#include "pawl/testing/fake_provider/dialects/validate.h"

#include <utility>

namespace pawl::fake {
namespace {

FakeError missing_key(Vendor vendor) {
  FakeError error;
  error.status = 401;
  if (vendor == Vendor::anthropic) {
    error.message = "x-api-key header is required";
  } else if (vendor == Vendor::gemini) {
    error.status = 403;
    error.message =
        "Method doesn't allow unregistered callers (callers without established identity). Please "
        "use API Key or other form of API consumer identity to call this API.";
  } else {
    error.message =
        "You didn't provide an API key. You need to provide your API key in an Authorization "
        "header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
  }
  return error;
}

bool is_get(Api api) {
  return api == Api::models || api == Api::model || api == Api::gemini_models;
}

}  // namespace

FakeError invalid_request(std::string message, std::string param, std::string code) {
  FakeError error;
  error.status = 400;
  error.message = std::move(message);
  error.param = std::move(param);
  error.code = std::move(code);
  return error;
}

const JsonArray* list_of(const Json& body, std::string_view key) {
  const Json* value = body.find(key);
  return value != nullptr ? value->if_array() : nullptr;
}

std::string text_of(const Json& value, std::string_view key) {
  const std::string* text = value.find_string(key);
  return text != nullptr ? *text : std::string();
}

std::optional<FakeError> check_head(const ServerRequest& request, const Route& route,
                                    KeyCheck keys) {
  if (request.method != (is_get(route.api) ? "GET" : "POST")) {
    FakeError error = invalid_request("Method Not Allowed");
    error.status = 405;
    return error;
  }
  const bool is_checked = keys == KeyCheck::required && route.key == Route::Key::needed;
  if (is_checked && key_of(request).empty()) return missing_key(route.vendor);
  if (route.vendor == Vendor::anthropic &&
      find_header(request.headers, "anthropic-version").empty()) {
    return invalid_request("anthropic-version: header is required");
  }
  return std::nullopt;
}

std::optional<FakeError> unknown_model(const ModelRequest& request) {
  FakeError error;
  error.status = 404;
  switch (request.route.api) {
    case Api::anthropic_messages:
    case Api::anthropic_count_tokens:
      error.message = "model: " + request.model;
      break;
    case Api::openai_responses:
      error = invalid_request("The requested model '" + request.model + "' does not exist.",
                              "model", "model_not_found");
      break;
    case Api::gemini_generate:
    case Api::gemini_stream:
    case Api::gemini_count_tokens:
      error.message = "models/" + request.model +
                      " is not found for API version v1beta, or is not supported for this method. "
                      "Call ListModels to see the list of available models.";
      break;
    default:
      error.message =
          "The model `" + request.model + "` does not exist or you do not have access to it.";
      error.code = "model_not_found";
  }
  return error;
}

std::optional<FakeError> check_body(const ModelRequest& request) {
  switch (request.route.api) {
    case Api::anthropic_messages:
    case Api::anthropic_count_tokens:
      return check_anthropic(request);
    case Api::openai_responses:
      return check_responses(request);
    case Api::gemini_generate:
    case Api::gemini_stream:
    case Api::gemini_count_tokens:
      return check_gemini(request);
    default:
      return check_chat(request);
  }
}

}  // namespace pawl::fake
