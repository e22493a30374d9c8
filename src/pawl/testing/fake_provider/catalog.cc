#include "pawl/testing/fake_provider/catalog.h"

#include "pawl/testing/fake_provider/dialects/render.h"

namespace pawl::fake {
namespace {

void put_model(JsonWriter& json, Vendor vendor, const std::string& model) {
  json.begin_object();
  if (vendor == Vendor::anthropic) {
    json.field("type", "model").field("id", model).field("display_name", model);
    json.field("created_at", "2025-02-19T00:00:00Z");
  } else if (vendor == Vendor::gemini) {
    json.field("name", "models/" + model).field("version", "001").field("displayName", model);
    json.field("inputTokenLimit", 1'048'576).field("outputTokenLimit", 65'536);
    json.key("supportedGenerationMethods").begin_array().string("generateContent");
    json.string("countTokens").end_array();
  } else if (vendor == Vendor::ollama) {
    json.field("name", model).field("model", model).field("modified_at", "2026-01-01T00:00:00Z");
    json.field("size", 2'019'393'189).field("digest", std::string(64, 'a'));
    json.key("details").begin_object().field("format", "gguf").field("family", "llama");
    json.field("parameter_size", "3.2B").field("quantization_level", "Q4_K_M").end_object();
  } else {
    json.field("id", model).field("object", "model").field("created", created_at(0));
    json.field("owned_by", "system");
  }
  json.end_object();
}

std::string model_list(Vendor vendor, const std::vector<std::string>& models) {
  JsonWriter json;
  json.begin_object();
  if (vendor == Vendor::openai) json.field("object", "list");
  const bool is_data = vendor == Vendor::anthropic || vendor == Vendor::openai;
  json.key(is_data ? "data" : "models").begin_array();
  for (const std::string& model : models) put_model(json, vendor, model);
  json.end_array();
  if (vendor == Vendor::anthropic) {
    json.field("has_more", false).field("first_id", models.front());
    json.field("last_id", models.back());
  }
  return json.end_object().take();
}

}  // namespace

std::vector<std::string> listed_models(const FakeScript& script) {
  if (!script.models.empty()) return script.models;
  return {"claude-sonnet-4-5", "gpt-5", "gemini-2.5-flash", "llama3.2:latest"};
}

Rendered render_catalog(const Route& route, const FakeScript& script, std::uint64_t number) {
  const Headers headers = vendor_headers(route.vendor, number);
  if (route.api == Api::ollama_version) return json_reply(200, headers, R"({"version":"0.12.6"})");
  if (route.api == Api::model) {
    JsonWriter json;
    put_model(json, route.vendor, route.model);
    return json_reply(200, headers, json.take());
  }
  if (route.api != Api::root) {
    return json_reply(200, headers, model_list(route.vendor, listed_models(script)));
  }
  Rendered reply;
  reply.headers = {{"content-type", "text/plain; charset=utf-8"}};
  reply.frames.push_back({FrameKind::closing, "Ollama is running"});
  return reply;
}

Rendered render_token_count(const ModelRequest& request, std::uint64_t number) {
  JsonWriter json;
  json.begin_object();
  if (request.route.vendor == Vendor::gemini) {
    json.field("totalTokens", request.input_tokens).key("promptTokensDetails").begin_array();
    json.begin_object().field("modality", "TEXT").field("tokenCount", request.input_tokens);
    json.end_object().end_array();
  } else {
    json.field("input_tokens", request.input_tokens);
  }
  return json_reply(200, vendor_headers(request.route.vendor, number), json.end_object().take());
}

}  // namespace pawl::fake
