#include "pawl/adapter/provider/openai/chat_quirks.h"

#include <algorithm>
#include <array>

namespace pawl::provider {
namespace {

constexpr std::array<std::string_view, kQuirks> kNames{
    "developer_role",      "max_completion_tokens", "prompt_cache_key", "documents",
    "no_stream_usage",     "no_reasoning_effort",   "no_json_schema",   "replay_reasoning_content",
    "replay_reasoning",    "empty_content",         "short_call_ids",   "no_user_after_tool",
    "no_reasoning_summary"};

struct Server {
  std::string_view name;
  std::string_view host;  // a part of the address; empty: only its name tells
  std::vector<Quirk> quirks;
};

const std::vector<Server>& servers() {
  using enum Quirk;
  static const std::vector<Server> all = {
      {"openai",
       "api.openai.com",
       {developer_role, max_completion_tokens, prompt_cache_key, documents}},
      {"azure", ".azure.com", {developer_role, max_completion_tokens, prompt_cache_key, documents}},
      {"openrouter", "openrouter.ai", {documents, replay_reasoning}},
      {"deepseek", "api.deepseek.com", {no_json_schema, replay_reasoning_content, empty_content}},
      {"groq", "api.groq.com", {max_completion_tokens}},
      {"mistral",
       "api.mistral.ai",
       {no_stream_usage, no_reasoning_effort, short_call_ids, no_user_after_tool, empty_content}},
      {"ollama", ":11434", {replay_reasoning, empty_content}},
      {"llamacpp", "", {replay_reasoning_content, empty_content}},
      {"vllm", "", {empty_content}},
      {"standard", "", {}},
  };
  return all;
}

ChatQuirks quirks_of(const Server& server) {
  ChatQuirks quirks;
  for (const Quirk quirk : server.quirks) quirks.add(quirk);
  return quirks;
}

const Server* server_named(std::string_view name) {
  const auto found = std::ranges::find(servers(), name, &Server::name);
  return found != servers().end() ? &*found : nullptr;
}

std::string_view host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != url.npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find('/'));
}

const Server* server_at(std::string_view url) {
  const std::string_view host = host_of(url);
  const auto found = std::ranges::find_if(servers(), [&](const Server& server) {
    return !server.host.empty() && host.ends_with(server.host);
  });
  return found != servers().end() ? &*found : nullptr;
}

Error unknown(const std::string& word) {
  std::string list;
  for (const Server& server : servers()) list += std::string(server.name) + ", ";
  for (const std::string_view quirk : kNames) list += std::string(quirk) + ", ";
  list.resize(list.size() - 2);
  return {ErrorCode::invalid_argument, "'" + word + "' is no quirk; there are: " + list};
}

}  // namespace

std::string_view name(Quirk quirk) {
  return kNames[static_cast<std::size_t>(quirk)];
}

std::vector<std::string_view> known_chat_servers() {
  std::vector<std::string_view> names;
  for (const Server& server : servers()) names.push_back(server.name);
  return names;
}

Result<ChatQuirks> chat_quirks_of(const WireOptions& options) {
  ChatQuirks quirks;
  const Server* server = nullptr;
  for (const std::string& word : options.quirks) {
    const auto known = std::ranges::find(kNames, word);
    if (known != kNames.end()) {
      quirks.add(static_cast<Quirk>(known - kNames.begin()));
    } else if (const Server* named = server_named(word)) {
      server = named;
      quirks.add(quirks_of(*named));
    } else {
      return unknown(word);
    }
  }
  if (server == nullptr) server = server_at(options.base_url);
  if (server == nullptr) server = server_named(options.name);
  if (server != nullptr) quirks.add(quirks_of(*server));
  return quirks;
}

}  // namespace pawl::provider
