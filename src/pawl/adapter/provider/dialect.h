// What providers differ in: how a request is written and a response is read. No network, no clock,
// no state between requests: everything here can be tested with bytes alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/executor.h"
#include "pawl/port/http.h"

namespace pawl::provider {

// What the wire needs beside the request.
struct WireOptions {
  std::string name;                 // of the provider: what "provider/model" begins with
  std::string base_url;             // without a slash at its end
  ExecutorModelDescriptor model;    // facts of the model asked for; id as the provider knows it
  std::vector<HttpHeader> headers;  // of the operator's own
  // Known deviations of servers that speak a dialect nearly; see chat_quirks.h.
  std::vector<std::string> quirks;
  enum class Resume : std::uint8_t { replay, session } resume = Resume::replay;
};

struct WireRequest {
  std::string method = "POST";
  std::string url;
  std::vector<HttpHeader> headers;  // without the credentials
  HttpBody body;
  enum class Framing : std::uint8_t { whole, events, lines } framing = Framing::events;
};

// Reads one response. Deltas, calls and usage go to `sink` as they are understood; PhaseDone never
// does: finish() is the end.
class ReplyDecoder {
 public:
  virtual ~ReplyDecoder() = default;
  // One server-sent event (`type` may be empty), or one line of lines. An error is one of protocol:
  // the phase fails, and nothing of the reply is acted upon.
  virtual Status on_event(std::string_view type, std::string_view data,
                          const PhaseEventSink& sink) = 0;
  // The body of a response that was not streamed.
  virtual Status on_whole(std::string_view body, const PhaseEventSink& sink) = 0;
  // How often something was said that brings the reply further. A keep-alive does not.
  virtual std::uint64_t progress() const = 0;
  // The provider said that the reply is complete: what follows on the connection does not matter.
  virtual bool complete() const = 0;
  // The response has ended, complete or not.
  virtual std::variant<PhaseReplied, PhaseFailed> finish(const PhaseEventSink& sink) = 0;
};

class KeptTurns;
class TurnStyle;

class Dialect {
 public:
  virtual ~Dialect() = default;
  // `options` outlives the style. invalid_argument: there is a quirk that the dialect has not.
  virtual Result<std::unique_ptr<const TurnStyle>> turn_style(const WireOptions& options) const = 0;
  // `turns` has taken the whole conversation of the request, and is composed for it: an encoder
  // reads no store.
  // invalid_argument: the request cannot be written for this provider, with the reason; it becomes
  // PhaseFailed of the kind unsupported.
  virtual Result<WireRequest> encode(const PhaseExecutionRequest& request, KeptTurns& turns,
                                     const WireOptions& options) const = 0;
  // The same with nothing kept: `messages` is the conversation of the request, loaded.
  Result<WireRequest> encode(const PhaseExecutionRequest& request, std::vector<Message> messages,
                             const WireOptions& options) const;
  virtual std::unique_ptr<ReplyDecoder> decoder(const PhaseExecutionRequest& request,
                                                const WireOptions& options) const = 0;
  // What a response with an error status means. `body` may be cut.
  virtual PhaseFailed failure_of(const HttpResponseHead& head, std::string_view body,
                                 std::int64_t now_wall_ms) const = 0;
  // Headers that carry the key: "x-api-key", or "authorization" with "Bearer ".
  virtual HttpHeader credentials(const std::string& key) const = 0;
  // A request that proves the key and costs nothing or next to it.
  virtual WireRequest probe(const WireOptions& options) const = 0;
};

std::unique_ptr<Dialect> make_anthropic_dialect();
std::unique_ptr<Dialect> make_gemini_dialect();
std::unique_ptr<Dialect> make_responses_dialect();
std::unique_ptr<Dialect> make_chat_dialect();

// For the dialects only.
std::unique_ptr<ReplyDecoder> make_anthropic_decoder(const std::vector<ToolSpec>& tools,
                                                     const WireOptions& options);
std::unique_ptr<ReplyDecoder> make_gemini_decoder(const std::vector<ToolSpec>& tools,
                                                  const WireOptions& options);
std::unique_ptr<ReplyDecoder> make_responses_decoder(const std::vector<ToolSpec>& tools,
                                                     const WireOptions& options);
std::unique_ptr<ReplyDecoder> make_chat_decoder(const std::vector<ToolSpec>& tools,
                                                const WireOptions& options);

}  // namespace pawl::provider
