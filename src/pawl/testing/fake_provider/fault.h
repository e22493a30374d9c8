// What can be wrong with a reply, on purpose. Read from scripts and from --fault by
// script_reader.h, carried out by spoil.h (what is said) and plan.h (how it is sent).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::fake {

enum class FaultKind : std::uint8_t {
  status,              // an HTTP error instead of the reply
  silence,             // accepts and never answers
  stall,               // stops for ever
  pings,               // keep-alives for ever, no progress
  close,               // FIN
  reset,               // RST
  error_event,         // an error inside the stream, after 200
  truncated,           // the body ends in the middle of an event, and is framed as if whole
  truncated_input,     // the input of the first call is cut in half
  duplicate,           // the next event is sent twice
  splice,              // the opening events are sent again
  reorder,             // the closing events come first
  giant_line,          // one event of `bytes`
  giant_body,          // deltas until there are `bytes`
  many_calls,          // `count` tool calls in one reply
  bad_utf8,            // bytes that are not UTF-8 inside a text
  split,               // each byte in a chunk and a write of its own
  trickle,             // a byte every `every`
  gzip_bomb,           // zeros, `bytes` of them after decompression
  deep_json,           // `count` nested lists as the input of a call
  lying_usage,         // `usage` in place of every token count
  bad_chunk,           // a chunk with the size FFFFFFFFFFFFFFFF
  huge_header,         // a header of `bytes`
  continue_flood,      // `count` times 100 Continue before the head
  length_and_chunked,  // both framings
};
inline constexpr std::size_t kFaultKinds = 25;
std::string_view name(FaultKind value);

enum class FaultPlace : std::uint8_t {
  usual,  // what the kind is mostly wanted for
  before_head,
  in_head,
  after_deltas,  // n of them
  after_bytes,   // n of them, of the body on the wire
  before_end,    // before the first closing event
};

inline constexpr std::uint64_t kFaultBytesMax = 1ULL << 40U;
inline constexpr std::uint64_t kFaultCountMax = 10'000'000;

struct FaultSpec {
  FaultKind kind = FaultKind::status;
  FaultPlace place = FaultPlace::usual;
  std::uint64_t n = 0;  // of the place

  int status = 0;  // 0: the kind's own, see status_of()
  std::optional<std::string> retry_after;
  std::string type;            // of the error; empty: the provider's word
  std::string message;         // of the error; {{key}} is the key that the client sent
  std::uint64_t bytes = 0;     // 0: the kind's own default
  std::uint64_t count = 0;     // 0: the kind's own default
  std::uint64_t every_ms = 0;  // 0: the kind's own default
  std::string usage = "-5";

  std::uint64_t times = 0;  // how many replies it strikes; 0: all
  std::uint64_t skip = 0;   // replies it leaves alone first
};

// 429 for an HTTP error and 529 for one inside a stream, unless the fault says otherwise.
int status_of(const FaultSpec& fault);

}  // namespace pawl::fake
