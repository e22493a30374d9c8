#include "pawl/adapter/provider/openai/openai_failure.h"

#include <charconv>
#include <optional>

#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/adapter/provider/openai/openai_wire.h"

namespace pawl::provider {
namespace {

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != text.npos;
}

// What the table that providers share cannot know.
void refine(PhaseFailed& failed, const ProviderError& error) {
  if (has(error.type, "previous_response_not_found") ||
      (has(error.message, "revious response") && has(error.message, "not found"))) {
    failed.category = ErrorCategory::validation_error;
    failed.kind = FailureKind::session_lost;
  } else if (has(error.type, "content_filter") || has(error.type, "content_policy")) {
    failed.category = ErrorCategory::policy_violation;
    failed.kind = FailureKind::permanent;
  } else if (has(error.message, "Request too large for")) {
    // Said with the status of a rate limit, but it will never fit into the rate.
    failed.category = ErrorCategory::validation_error;
    failed.kind = FailureKind::unsupported;
  } else if (has(error.type, "slow_down") || has(error.type, "insufficient_system_resource")) {
    failed.category = ErrorCategory::llm_error;
    failed.kind = FailureKind::overloaded;
  }
}

// Routers give the status that they got themselves as the code of the error.
std::optional<int> status_in(const Json& error) {
  const Json* code = error.find("code");
  if (code == nullptr) return std::nullopt;
  std::string_view text;
  if (const std::string* word = code->if_string()) text = *word;
  if (const JsonNumber* number = code->if_number()) text = number->text;
  int status = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), status);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole && status >= 400 && status <= 599 ? std::optional(status) : std::nullopt;
}

ProviderError said(const Json& error) {
  return provider_error_of(JsonWriter().begin_object().field("error", error).end_object().take());
}

}  // namespace

PhaseFailed openai_failure(const Json& error) {
  const ProviderError words = said(error);
  PhaseFailed failed = failure_of_type(words);
  if (const auto status = status_in(error)) {
    HttpResponseHead head;
    head.status = *status;
    failed = failure_of_status(head, words, 0);
  }
  refine(failed, words);
  return failed;
}

PhaseFailed openai_status_failure(const HttpResponseHead& head, std::string_view body,
                                  std::int64_t now_wall_ms) {
  const ProviderError words = provider_error_of(body);
  PhaseFailed failed = failure_of_status(head, words, now_wall_ms);
  refine(failed, words);
  return failed;
}

}  // namespace pawl::provider
