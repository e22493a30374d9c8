// What a response with an error status means: the part that providers share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

inline constexpr std::size_t kErrorBodyBytesMax = 64U << 10U;
inline constexpr std::size_t kFailureMessageBytesMax = 1'024;

// What a provider said about an error, in its own words; any of them may be empty.
struct ProviderError {
  std::string type;  // "overloaded_error", "insufficient_quota", "RESOURCE_EXHAUSTED"
  std::string message;
};
// From {"error":{"type"|"code"|"status","message"}} of a body, which may be cut or no JSON at all:
// then its beginning is the message.
ProviderError provider_error_of(std::string_view body);

// By the status, with what type and message say beyond it (quota, context length, overload).
PhaseFailed failure_of_status(const HttpResponseHead& head, const ProviderError& error,
                              std::int64_t now_wall_ms);
// The same of an error that came inside a response with a good status: the type stands for one.
PhaseFailed failure_of_type(const ProviderError& error);

// A response that is not what the provider's protocol allows: worth another attempt.
PhaseFailed protocol_failure(const std::string& message);
// The same for one where a bound was reached: another attempt meets it again.
PhaseFailed limit_failure(const std::string& message);

// A stream that is over before its reply.
PhaseFailed unfinished_reply();
// A reply that ends the turn, and nothing else.
PhaseFailed empty_reply();
// The reply, unless it is one of that kind.
std::variant<PhaseReplied, PhaseFailed> unless_empty(PhaseReplied reply, std::size_t blocks);

// For people: one line, without control characters, at most kFailureMessageBytesMax.
std::string short_message(std::string_view text);

// `text` without `key` and without anything that looks like a part of it or like another key.
std::string without_key(std::string_view text, std::string_view key);

}  // namespace pawl::provider
