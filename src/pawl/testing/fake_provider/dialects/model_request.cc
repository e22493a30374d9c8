#include "pawl/testing/fake_provider/dialects/model_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/testing/fake_provider/reply.h"

namespace pawl::fake {
namespace {

struct FixedPath {
  std::string_view path;
  Api api;
  Vendor vendor;
};

constexpr std::array<FixedPath, 17> kPaths = {{
    {"/", Api::root, Vendor::anthropic},
    {"/v1/messages", Api::anthropic_messages, Vendor::anthropic},
    {"/v1/messages/count_tokens", Api::anthropic_count_tokens, Vendor::anthropic},
    {"/v1/models", Api::models, Vendor::openai},
    {"/models", Api::models, Vendor::openai},
    {"/v1/responses", Api::openai_responses, Vendor::openai},
    {"/responses", Api::openai_responses, Vendor::openai},
    {"/v1/chat/completions", Api::openai_chat, Vendor::openai},
    {"/chat/completions", Api::openai_chat, Vendor::openai},
    {"/v1beta/openai/chat/completions", Api::openai_chat, Vendor::openai},
    {"/api/v1/chat/completions", Api::openai_chat, Vendor::openai},
    {"/v1beta/models", Api::gemini_models, Vendor::gemini},
    {"/api/tags", Api::ollama_tags, Vendor::ollama},
    {"/api/version", Api::ollama_version, Vendor::ollama},
    {"/_pawl/requests", Api::seen_requests, Vendor::openai},
    {"/_pawl/stats", Api::stats, Vendor::openai},
    {"/anthropic/v1/messages", Api::anthropic_messages, Vendor::anthropic},
}};

// "/v1beta/models/M:method"
Route gemini_route(std::string_view path) {
  Route route;
  for (const std::string_view prefix : {"/v1beta/models/", "/v1/models/"}) {
    const std::size_t colon = path.rfind(':');
    if (!path.starts_with(prefix) || colon == std::string_view::npos) continue;
    const std::string_view method = path.substr(colon + 1);
    route.vendor = Vendor::gemini;
    route.model = std::string(path.substr(prefix.size(), colon - prefix.size()));
    if (method == "generateContent") route.api = Api::gemini_generate;
    if (method == "streamGenerateContent") route.api = Api::gemini_stream;
    if (method == "countTokens") route.api = Api::gemini_count_tokens;
    return route;
  }
  return route;
}

Route route_at(std::string_view path, const ServerRequest& request) {
  for (const FixedPath& fixed : kPaths) {
    if (fixed.path != path) continue;
    Route route{fixed.api, fixed.vendor, {}, {}};
    if (fixed.api == Api::models && !find_header(request.headers, "anthropic-version").empty()) {
      route.vendor = Vendor::anthropic;
    }
    return route;
  }
  const Route route = gemini_route(path);
  if (route.api != Api::none) return route;
  constexpr std::string_view kModel = "/v1/models/";
  constexpr std::string_view kGeminiModel = "/v1beta/models/";
  if (path.starts_with(kModel)) {
    const bool anthropic = !find_header(request.headers, "anthropic-version").empty();
    return {Api::model,
            anthropic ? Vendor::anthropic : Vendor::openai,
            std::string(path.substr(kModel.size())),
            {}};
  }
  const bool names_method = path.find(':') != std::string_view::npos;
  if (names_method || !path.starts_with(kGeminiModel)) return route;
  return {Api::model, Vendor::gemini, std::string(path.substr(kGeminiModel.size())), {}};
}

// Text of one part: Anthropic's text and tool_result, OpenAI's input_text and friends, Gemini's
// text and functionResponse. Images and files say nothing.
std::string part_text(const Json& part) {
  if (const std::string* text = part.if_string()) return *text;
  if (const std::string* text = part.find_string("text")) return *text;
  if (const Json* content = part.find("content")) return content_text(*content);
  if (const Json* output = part.find("output")) return content_text(*output);
  if (const Json* response = part.find("functionResponse")) {
    const Json* value = response->find("response");
    // Where clients put a result that is a text.
    const std::string* text = value != nullptr ? value->find_string("output") : nullptr;
    if (text != nullptr) return *text;
    return value != nullptr ? write_json(*value) : std::string();
  }
  return {};
}

std::string last_text(const Json& body) {
  for (const std::string_view key : {"messages", "contents", "input"}) {
    const Json* list = body.find(key);
    if (list == nullptr) continue;
    if (list->is_string()) return list->string();
    if (!list->is_array() || list->array().empty()) continue;
    const Json& last = list->array().back();
    for (const std::string_view inside : {"content", "parts", "output"}) {
      if (const Json* content = last.find(inside)) return content_text(*content);
    }
  }
  return {};
}

std::vector<std::string> tool_names(const Json& body) {
  std::vector<std::string> names;
  const Json* tools = body.find("tools");
  if (tools == nullptr || !tools->is_array()) return names;
  for (const Json& tool : tools->array()) {
    const Json* function = tool.find("function");
    const Json* declarations = tool.find("functionDeclarations");
    if (declarations != nullptr && declarations->is_array()) {
      for (const Json& each : declarations->array()) {
        if (const std::string* name = each.find_string("name")) names.push_back(*name);
      }
    } else if (const std::string* name =
                   (function != nullptr ? *function : tool).find_string("name")) {
      names.push_back(*name);
    }
  }
  return names;
}

bool is_true(const Json* value) {
  return value != nullptr && value->if_boolean() != nullptr && value->boolean();
}

}  // namespace

std::string_view path_of(std::string_view target) {
  return target.substr(0, target.find('?'));
}

Route route_of(const ServerRequest& request) {
  // Ollama speaks OpenAI's format too, at its own address and to everybody.
  constexpr std::string_view kOllama = "/ollama";
  const std::string_view path = path_of(request.target);
  if (path != kOllama && !path.starts_with(std::string(kOllama) + "/")) {
    return route_at(path, request);
  }
  Route route = route_at(path == kOllama ? "/" : path.substr(kOllama.size()), request);
  route.key = Route::Key::not_needed;
  return route;
}

std::string key_of(const ServerRequest& request) {
  for (const std::string_view header : {"x-api-key", "x-goog-api-key", "api-key"}) {
    const std::string_view value = find_header(request.headers, header);
    if (!value.empty()) return std::string(value);
  }
  const std::string_view authorization = find_header(request.headers, "authorization");
  constexpr std::string_view kBearer = "bearer ";
  if (equal_ignoring_case(authorization.substr(0, kBearer.size()), kBearer)) {
    return std::string(authorization.substr(kBearer.size()));
  }
  const std::size_t at = request.target.find("key=");
  const bool in_query = at != std::string::npos && at > 0 &&
                        (request.target[at - 1] == '?' || request.target[at - 1] == '&');
  if (!in_query) return {};
  return request.target.substr(at + 4, request.target.find('&', at) - at - 4);
}

std::string content_text(const Json& content) {
  if (!content.is_array()) return content.is_object() ? part_text(content) : part_text(content);
  std::string out;
  for (const Json& part : content.array()) {
    const std::string text = part_text(part);
    if (!out.empty() && !text.empty()) out += "\n";
    out += text;
  }
  return out;
}

ModelRequest read_model_request(Route route, const std::string& body_text, Json body) {
  ModelRequest request;
  request.model = route.model;
  if (const std::string* model = body.find_string("model")) request.model = *model;
  const bool streams = route.api == Api::gemini_stream || is_true(body.find("stream"));
  request.delivery = streams ? Delivery::stream : Delivery::whole;
  if (const Json* options = body.find("stream_options")) {
    request.include_usage = is_true(options->find("include_usage"));
  }
  request.last_user = last_text(body);
  request.tools = tool_names(body);
  request.input_tokens = estimated_tokens(body_text.size());
  request.route = std::move(route);
  request.body = std::move(body);
  return request;
}

}  // namespace pawl::fake
