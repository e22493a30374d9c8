// What the fake provider says to one request, before anyone knows in which wire format. Plain data:
// read from a script (script_reader.h), written in C++, or made up by the echo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/testing/fake_provider/fault.h"
#include "pawl/testing/fake_provider/server/wire.h"

namespace pawl::fake {

inline constexpr std::size_t kReplyPartsMax = 100'000;  // deltas of one text
inline constexpr std::size_t kReplyCallsMax = 100'000;
inline constexpr std::size_t kReplyStringBytesMax = 64U << 20U;

struct FakeCall {
  std::string tool;
  std::string input = "{}";  // sent as it stands, JSON or not
  std::string id;            // empty: one in the provider's form
};

enum class FakeStop : std::uint8_t {
  automatic,  // tool_use with calls, end_turn without
  end_turn,
  tool_use,
  max_tokens,
  stop_sequence,
  refusal,
  pause_turn,
  context_window,
  content_filter,
  incomplete,
  failed,
};
inline constexpr std::size_t kFakeStops = 11;
std::string_view name(FakeStop value);

// As Anthropic counts: the classes do not overlap. Other formats are computed from it.
struct FakeUsage {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_creation = 0;
  std::uint64_t thinking = 0;  // a part of output
  std::uint64_t cache_creation_1h = 0;
};

inline std::uint64_t all_input(const FakeUsage& usage) {
  return usage.input + usage.cache_read + usage.cache_creation + usage.cache_creation_1h;
}

// An error instead of a reply, in the shape of the provider that was asked.
struct FakeError {
  int status = 500;
  std::string type;  // empty: the provider's word for the status
  std::string message;
  std::string code;                        // OpenAI only
  std::string param;                       // OpenAI only
  std::optional<std::string> retry_after;  // the header's text, whatever it is
};

struct FakeReply {
  std::vector<std::string> thinking;  // one part is cut into deltas; several are the deltas
  std::string signature;              // empty: one is made up when there is thinking
  std::string redacted_thinking;      // empty: none
  std::vector<std::string> text;
  std::vector<FakeCall> calls;
  FakeStop stop = FakeStop::automatic;
  std::string stop_detail;           // the sequence, the explanation of a refusal, the reason
  std::optional<FakeUsage> usage;    // nullopt: estimated
  std::optional<FakeError> error;    // then nothing above is sent
  Headers headers;                   // further ones
  std::uint64_t delay_ms = 0;        // before the head
  std::uint64_t delta_delay_ms = 0;  // before each delta of a stream
  std::optional<FaultSpec> fault;

  static FakeReply say(std::string words);
  static FakeReply call(std::string tool, std::string input = "{}");
  static FakeReply fail(int status, std::string message);
};

FakeStop effective_stop(const FakeReply& reply);
// The parts joined.
std::string joined(const std::vector<std::string>& parts);
// The deltas in which `parts` are streamed: themselves, or a single one cut before its spaces.
std::vector<std::string> deltas_of(const std::vector<std::string>& parts);
// `text` in pieces of about `bytes`, never inside a character.
std::vector<std::string> cut_text(const std::string& text, std::size_t bytes);
// Four bytes are a token, as a rule of thumb; at least one.
std::uint64_t estimated_tokens(std::size_t bytes);

}  // namespace pawl::fake
