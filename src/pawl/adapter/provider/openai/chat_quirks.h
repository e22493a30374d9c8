// What servers that speak OpenAI's chat dialect do differently. Each quirk has a name that a
// configuration may list; so have the known servers, for theirs together (docs/providers.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

enum class Quirk : std::uint8_t {
  developer_role,            // the system prompt of reasoning models has the role developer
  max_completion_tokens,     // not max_tokens
  prompt_cache_key,          // takes one
  documents,                 // takes PDF
  no_stream_usage,           // refuses stream_options; says the usage without being asked
  no_reasoning_effort,       // refuses reasoning_effort
  no_json_schema,            // the shape of the answer is asked for in words
  replay_reasoning_content,  // wants its thoughts back, as reasoning_content
  replay_reasoning,          // the same, as reasoning
  empty_content,             // a message with calls has the content "", not null
  short_call_ids,            // ids of calls are nine letters and digits
  no_user_after_tool,        // refuses a user's message directly after a result
  no_reasoning_summary,      // of the Responses dialect: refuses to be asked for summaries
};
inline constexpr std::size_t kQuirks = 13;
std::string_view name(Quirk quirk);

class ChatQuirks {
 public:
  bool has(Quirk quirk) const { return (bits_ & bit(quirk)) != 0; }
  void add(Quirk quirk) { bits_ |= bit(quirk); }
  void add(const ChatQuirks& others) { bits_ |= others.bits_; }

  friend bool operator==(const ChatQuirks&, const ChatQuirks&) = default;

 private:
  static std::uint32_t bit(Quirk quirk) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(quirk);
  }
  std::uint32_t bits_ = 0;
};

// Names of servers that have a row in the table: "ollama", "mistral", …
std::vector<std::string_view> known_chat_servers();

// Those of `options.quirks`. Unless they name a server, those of the server that the provider's
// address or else its name stands for come with them; "standard" is a server without any.
// invalid_argument: a name that nobody knows, with those that are.
Result<ChatQuirks> chat_quirks_of(const WireOptions& options);

}  // namespace pawl::provider
