// A request as every wire format means it: what a reply depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/json.h"
#include "pawl/testing/fake_provider/server/http_server.h"

namespace pawl::fake {

// The families of error shapes.
enum class Vendor : std::uint8_t { anthropic, openai, gemini, ollama };

enum class Api : std::uint8_t {
  none,  // nothing that we know
  root,  // "/"
  anthropic_messages,
  anthropic_count_tokens,
  models,  // Anthropic's or OpenAI's list, by the request's headers
  model,   // one of it
  openai_responses,
  openai_chat,
  gemini_generate,
  gemini_stream,
  gemini_count_tokens,
  gemini_models,
  ollama_tags,
  ollama_version,
  seen_requests,
  stats,
};

struct Route {
  Api api = Api::none;
  Vendor vendor = Vendor::openai;
  std::string model;  // when the path names it
  enum class Key : std::uint8_t { needed, not_needed } key = Key::needed;
};

// `target` with or without a query.
Route route_of(const ServerRequest& request);
std::string_view path_of(std::string_view target);

// A key that the client sent, from whichever header of the vendor; empty when there is none.
std::string key_of(const ServerRequest& request);

enum class Delivery : std::uint8_t { whole, stream };

struct ModelRequest {
  Route route;
  std::string model;
  Delivery delivery = Delivery::whole;
  bool include_usage = false;  // Chat Completions: stream_options.include_usage
  std::string last_user;       // text and tool results of the last message
  std::vector<std::string> tools;
  std::uint64_t input_tokens = 0;  // estimated
  Json body;
};

// Never fails: what is not there is empty. Validation is validate.h.
ModelRequest read_model_request(Route route, const std::string& body_text, Json body);

// The text of a content that is a string or a list of parts, whatever the vendor calls them.
std::string content_text(const Json& content);

}  // namespace pawl::fake
