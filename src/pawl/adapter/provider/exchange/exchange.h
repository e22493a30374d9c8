// One exchange with a provider: what all requests share (the key, which is known only while a
// request is sent or read, the debug lines, what failures of the network mean), the messages in the
// bytes of a streamed response, and the two kinds of exchange: a phase and a probe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/provider_executor.h"
#include "pawl/result.h"

namespace pawl::provider {

// Of a body that is shown to somebody who debugs.
inline constexpr std::size_t kDebugBodyBytesMax = 64U << 10U;

// The request with its credentials. not_found: there is no key, with the remedy.
Result<HttpRequest> http_request(WireRequest wire, const ProviderConfig& config,
                                 const Dialect& dialect);

// Without anything that looks like the key.
std::string scrubbed(std::string_view text, const ProviderConfig& config);
PhaseFailed scrubbed(PhaseFailed failed, const ProviderConfig& config);

void debug_request(const ProviderConfig& config, const HttpRequest& request);
void debug_response(const ProviderConfig& config, const HttpResponseHead& head,
                    std::string_view body);

PhaseFailed failure_of_http(const HttpEnd& end);

// --- Messages in a stream -----------------------------------------------------------------------

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

// --- Phases and probes --------------------------------------------------------------------------

// What the phases of an executor share; it lives as long as any of them.
struct PhaseServices {
  ProviderConfig config;
  std::shared_ptr<const Dialect> dialect;
  Loop& loop;
  std::shared_ptr<HttpClient> http;
};

// `options` has the facts of the model that is asked for.
std::unique_ptr<Operation> start_phase(std::shared_ptr<const PhaseServices> services,
                                       const PhaseExecutionRequest& request,
                                       const WireOptions& options, PhaseEventSink sink);
// The same for a phase that fails without a request.
std::unique_ptr<Operation> fail_phase(std::shared_ptr<const PhaseServices> services,
                                      PhaseFailed failed, PhaseEventSink sink);

// One request that proves that the provider is there and takes the key.
// `done` is called once, on the loop thread, never from inside the call; not after the operation
// is destroyed.
std::unique_ptr<Operation> start_probe(std::shared_ptr<const PhaseServices> services,
                                       const WireOptions& options,
                                       std::function<void(Status)> done);

}  // namespace pawl::provider
