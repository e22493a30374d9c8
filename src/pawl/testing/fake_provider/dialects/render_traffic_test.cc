// Our events beside recorded ones: of each kind of event every key that we write was recorded, and
// every key that all recordings have is written.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "pawl/base/shared_data_test.h"
#include "pawl/testing/fake_provider/cassette.h"
#include "pawl/testing/fake_provider/dialects/render.h"

namespace pawl::fake {
namespace {

using Keys = std::set<std::string>;

// What was said in this kind of event: in any of them, and in all of them.
struct Seen {
  Keys any;
  Keys all;
};
using Kinds = std::map<std::string, Seen>;

// Paths of keys; what a tool, a schema or the request brought is not followed.
void add_keys(const Json& value, const std::string& path, Keys& keys) {
  static const std::set<std::string, std::less<>> kOpaque = {
      "input", "tools", "text", "reasoning", "metadata", "args", "annotations", "logprobs"};
  if (const JsonArray* array = value.if_array()) {
    for (const Json& item : *array) add_keys(item, path, keys);
    return;
  }
  const JsonObject* object = value.if_object();
  if (object == nullptr) return;
  for (const JsonMember& member : object->members()) {
    const std::string inner = path.empty() ? member.key : path + "." + member.key;
    keys.insert(inner);
    if (!kOpaque.contains(member.key)) add_keys(member.value, inner, keys);
  }
}

std::string string_in(const Json* value, std::string_view key) {
  const std::string* text = value != nullptr ? value->find_string(key) : nullptr;
  return text != nullptr ? *text : std::string();
}

std::string chat_kind(const Json& event) {
  const Json* choices = event.find("choices");
  if (choices == nullptr || choices->array().empty()) return "usage";
  const Json& choice = choices->array()[0];
  const Json* delta = choice.find("delta");
  if (!string_in(&choice, "finish_reason").empty()) return "finish";
  if (delta->find("role") != nullptr) return "role";
  const Json* calls = delta->find("tool_calls");
  if (calls == nullptr) return "content";
  return calls->array()[0].find("id") != nullptr ? "call" : "arguments";
}

std::string kind_of(const Json& event) {
  if (event.find("choices") != nullptr) return chat_kind(event);
  std::string kind = string_in(&event, "type");
  for (const std::string_view inside : {"delta", "content_block", "item", "part"}) {
    const std::string type = string_in(event.find(inside), "type");
    if (!type.empty()) kind += " " + type;
  }
  return kind.empty() ? "chunk" : kind;
}

void add_event(const Json& event, Kinds& kinds) {
  Keys keys;
  add_keys(event, "", keys);
  const auto [entry, is_new] = kinds.try_emplace(kind_of(event));
  Seen& seen = entry->second;
  Keys common;
  std::set_intersection(seen.all.begin(), seen.all.end(), keys.begin(), keys.end(),
                        std::inserter(common, common.end()));
  seen.all = is_new ? keys : std::move(common);
  seen.any.insert(keys.begin(), keys.end());
}

// The lines of `body` that are an event behind `mark`.
void add_events(const std::string& body, std::string_view mark, Kinds& kinds) {
  for (std::size_t from = 0; from < body.size();) {
    const std::size_t to = std::min(body.find('\n', from), body.size());
    const std::string_view line = std::string_view(body).substr(from, to - from);
    from = to + 1;
    if (!line.starts_with(mark)) continue;
    const auto event = parse_json(line.substr(mark.size()));
    if (event && event->is_object()) add_event(*event, kinds);
  }
}

constexpr std::string_view kData = "data: ";

bool is_stream(const Recording& recording) {
  return recording.status == 200 &&
         find_header(recording.headers, "content-type").find("event-stream") !=
             std::string_view::npos;
}

Kinds recorded(const std::filesystem::path& folder, std::string_view path_part) {
  Kinds kinds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const auto recordings = read_cassette(shared_file(entry.path()));
    REQUIRE_MESSAGE(recordings, entry.path().string());
    for (const Recording& each : *recordings) {
      if (!is_stream(each) || each.path.find(path_part) == std::string::npos) continue;
      add_events(joined(each.pieces), kData, kinds);
    }
  }
  return kinds;
}

Kinds ours(Api api) {
  ModelRequest request;
  request.route.api = api;
  request.model = "m";
  request.delivery = Delivery::stream;
  request.include_usage = true;
  FakeReply reply;
  reply.thinking = {"Hm. So."};
  reply.text = {"One two"};
  reply.calls = {{"a", R"({"x":1})", ""}};
  reply.usage = FakeUsage{10, 20, 30, 40, 0};
  Kinds kinds;
  add_events(render({request, reply, 1}).body(), kData, kinds);
  return kinds;
}

// `extra` are keys of ours, as "kind: key", that no recording has, each for a reason.
void compare(Api api, const Kinds& traffic, const Keys& extra) {
  std::size_t compared = 0;
  for (const auto& [kind, seen] : ours(api)) {
    const auto found = traffic.find(kind);
    if (found == traffic.end()) {
      CHECK_MESSAGE(extra.contains(kind), kind, " was never recorded");
      continue;
    }
    ++compared;
    for (const std::string& key : seen.any) {
      const bool known = found->second.any.contains(key) || extra.contains(kind + ": " + key);
      CHECK_MESSAGE(known, kind, ": ", key, " was never recorded");
    }
    for (const std::string& key : found->second.all) {
      CHECK_MESSAGE(seen.any.contains(key), kind, ": ", key, " is in every recording");
    }
  }
  CHECK(compared > 0);
}

bool has_traffic(std::string_view folder) {
  const auto path = shared_data() / "traffic" / folder;
  if (std::filesystem::exists(path)) return true;
  MESSAGE("skipped: there is no " << path.string());
  return false;
}

TEST_CASE("Messages events have the keys of recorded ones") {
  if (!has_traffic("anthropic")) return;
  compare(Api::anthropic_messages, recorded(shared_data() / "traffic/anthropic", "/v1/messages"),
          {});
}

TEST_CASE("Chat Completions chunks have the keys of recorded ones") {
  if (!has_traffic("openai-chat")) return;
  compare(Api::openai_chat, recorded(shared_data() / "traffic/openai-chat", "/chat/completions"),
          // Reasoning is not OpenAI's own: others who speak the format send it.
          {"content: choices.delta.reasoning_content"});
}

TEST_CASE("Responses events have the keys of recorded ones") {
  if (!has_traffic("openai-responses")) return;
  Kinds traffic = recorded(shared_data() / "traffic/openai-responses", "/responses");
  // Summaries of reasoning are only in the recordings of single events.
  const auto chunks = shared_data() / "traffic/openai-responses-chunks";
  for (const auto& entry : std::filesystem::directory_iterator(chunks)) {
    add_events(shared_file(entry.path()), "", traffic);
  }
  compare(Api::openai_responses, traffic, {});
}

TEST_CASE("Gemini chunks have the keys of recorded ones") {
  if (!has_traffic("gemini")) return;
  compare(Api::gemini_stream, recorded(shared_data() / "traffic/gemini", ":streamGenerateContent"),
          // The recorded streams hold neither thoughts nor calls nor cached prompts.
          {"chunk: candidates.content.parts.thought",
           "chunk: candidates.content.parts.thoughtSignature",
           "chunk: candidates.content.parts.functionCall",
           "chunk: candidates.content.parts.functionCall.name",
           "chunk: candidates.content.parts.functionCall.args",
           "chunk: usageMetadata.cachedContentTokenCount"});
}

}  // namespace
}  // namespace pawl::fake
