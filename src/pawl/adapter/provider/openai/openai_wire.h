// What the two dialects of OpenAI have in common: addresses, words, numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pawl/adapter/provider/common/conversation.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/openai/openai_failure.h"
#include "pawl/base/flat_json.h"
#include "pawl/json.h"
#include "pawl/limits.h"

namespace pawl::provider {

// `base_url` with `path` behind it. A base without a version in its path gets "/v1":
// "http://localhost:11434" is a server, "https://openrouter.ai/api/v1" an API.
std::string openai_url(std::string_view base_url, std::string_view path);

// A request with a JSON body; it is answered by events unless streaming is off.
WireRequest post_json(const WireOptions& options, std::string_view path, HttpBody body,
                      Streaming stream);

HttpHeader bearer_credentials(const std::string& key);
// The list of models: proves the key, costs nothing.
WireRequest models_probe(const WireOptions& options);

// The effort in the provider's words, of those that the model knows: "minimal" was GPT-5's only and
// "xhigh" came after GPT-5.1; every other reasoning model knows low, medium and high. Empty for
// `unset`.
std::string_view effort_word(ReasoningEffort effort, std::string_view model);

// Reads the object of one event or body with `json`; an error is one of protocol.
Result<FlatValue> read_wire_json(FlatJson& json, std::string_view text);

// The member's text; empty if there is none or it is no string.
std::string_view text_of(const Json& object, std::string_view key);
// The member, if it is there and not null.
FlatValue member_of(const FlatValue& object, std::string_view key);

// More calls than this make a reply of Chat Completions an error. A reply may have 256 blocks.
inline constexpr std::size_t kChatCallsMax = 1024;

// A count of tokens. What is missing is nothing; what cannot be a count is nullopt.
std::optional<std::uint64_t> count_of(const FlatValue& object, std::string_view key);

// Input and output of a provider that counts the cached tokens inside of its input.
struct OpenAiUsage {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint64_t cached = 0;
  std::uint64_t cache_written = 0;
};
Usage usage_of(const OpenAiUsage& counts);

// Whether `json` is the beginning of a JSON text and not the whole: the arguments of a call that
// was cut off. What is merely wrong is not cut off.
bool is_cut_off(std::string_view json);

// Who answered, as transcripts name it: "openai/gpt-5".
std::string answered_by(const WireOptions& options, std::string_view reported_model);

// Asks OpenAI itself for the tier that its price list is about: without it a project's setting may
// choose a dearer one. Other servers know no tiers.
void put_service_tier(JsonWriter& out, const WireOptions& options);

// "data:image/png;base64,…"
std::string data_url(const AttachmentPart& attachment);

// A document needs a name; not every attachment has one.
std::string file_name(const AttachmentPart& attachment);

// The dialects have no place for the outcome of a call but its text.
std::string result_text(const ResultPart& result);

// What the two dialects answer alike.
class OpenAiDialect : public Dialect {
 public:
  PhaseFailed failure_of(const HttpResponseHead& head, std::string_view body,
                         std::int64_t now_wall_ms) const final {
    return openai_status_failure(head, body, now_wall_ms);
  }
  HttpHeader credentials(const std::string& key) const final { return bearer_credentials(key); }
  WireRequest probe(const WireOptions& options) const final { return models_probe(options); }
};

}  // namespace pawl::provider
