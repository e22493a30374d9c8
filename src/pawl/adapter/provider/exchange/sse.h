// Cuts the bytes of a streamed response into messages, however the network cut them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "pawl/base/result.h"

namespace pawl::provider {

// A single event that is larger than this ends the response.
inline constexpr std::size_t kWireEventBytesMax = 16U << 20U;

// Gets one message; `type` is empty when the stream names none, `data` is valid UTF-8 (what was not
// is replaced by U+FFFD). Both live until it returns. An error ends feed() with that error.
using WireEventSink = std::function<Status(std::string_view type, std::string_view data)>;

class WireSplitter {
 public:
  virtual ~WireSplitter() = default;
  // limit_exceeded: one event is larger than `event_bytes_max`.
  virtual Status feed(std::string_view bytes, const WireEventSink& sink) = 0;
  // The response has ended. Gives what is complete without what would follow.
  virtual Status finish(const WireEventSink& sink) = 0;
};

// Server-sent events as WHATWG defines them: lines end with CR, LF or CRLF, several data lines make
// one message, comments and unknown fields are nothing, and a message that no empty line ended is
// dropped. A message without data is none.
std::unique_ptr<WireSplitter> make_sse_splitter(std::size_t event_bytes_max = kWireEventBytesMax);
// One message a line (NDJSON); empty lines are nothing, and the last line needs no end.
std::unique_ptr<WireSplitter> make_line_splitter(std::size_t event_bytes_max = kWireEventBytesMax);

}  // namespace pawl::provider
