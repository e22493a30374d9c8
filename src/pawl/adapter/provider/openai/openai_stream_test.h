// Streams of the OpenAI dialects, written by hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/provider/common/reply_test.h"
#include "pawl/json.h"

namespace pawl::provider::openai_test {

// A request that offers a tool whose name is changed on the wire.
inline PhaseExecutionRequest request_with_tool() {
  PhaseExecutionRequest request;
  request.tools.emplace_back().name = "files.read";
  return request;
}

inline std::string as_events(const std::vector<std::string>& payloads) {
  std::string body;
  for (const std::string& payload : payloads) body += "data: " + payload + "\n\n";
  return body;
}

inline DecodedReply decode_payloads(const Dialect& dialect,
                                    const std::vector<std::string>& payloads,
                                    const WireOptions& options) {
  return decode_stream(dialect, request_with_tool(), options, as_events(payloads));
}

inline std::uint64_t progress_of(const Dialect& dialect, const std::vector<std::string>& payloads,
                                 const WireOptions& options) {
  const auto decoder = dialect.decoder({}, options);
  for (const std::string& payload : payloads) {
    CHECK(decoder->on_event("", payload, [](const PhaseExecutorEvent&) {}));
  }
  return decoder->progress();
}

inline std::optional<Usage> reported_usage(const DecodedReply& reply) {
  return reply.usage_reports > 0 ? std::optional(reply.usage) : std::nullopt;
}

}  // namespace pawl::provider::openai_test
