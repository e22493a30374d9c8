#include "pawl/adapter/provider/exchange/failures.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "pawl/adapter/provider/exchange/retry_after.h"
#include "pawl/base/utf8.h"
#include "pawl/json.h"

namespace pawl::provider {
namespace {

constexpr std::size_t kKeyPieceBytes = 8;  // as much of a key as gives it away
constexpr std::string_view kRedacted = "[redacted]";

std::string lower(std::string_view text) {
  std::string out(text.substr(0, kErrorBodyBytesMax));
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

struct Meaning {
  ErrorCategory category = ErrorCategory::llm_error;
  FailureKind kind = FailureKind::transient;
};
constexpr Meaning kOutOfQuota{ErrorCategory::quota_exceeded, FailureKind::permanent};
constexpr Meaning kTooLong{ErrorCategory::validation_error, FailureKind::unsupported};
constexpr Meaning kRateLimited{ErrorCategory::llm_error, FailureKind::rate_limited};
constexpr Meaning kOverloaded{ErrorCategory::llm_error, FailureKind::overloaded};
constexpr Meaning kTimeout{ErrorCategory::timeout, FailureKind::transient};
constexpr Meaning kForbidden{ErrorCategory::policy_violation, FailureKind::permanent};
constexpr Meaning kNoModel{ErrorCategory::validation_error, FailureKind::model_not_found};
constexpr Meaning kInvalid{ErrorCategory::validation_error, FailureKind::permanent};

bool is_out_of_quota(std::string_view words) {
  // Not "billing" alone: Gemini mentions it whenever there were too many requests.
  return has_any(words, {"insufficient_quota", "billing_error", "billing_hard_limit",
                         "billing_not_active", "credit balance", "payment required"});
}

bool is_too_long(std::string_view words) {
  return has_any(
      words, {"context_length_exceeded", "context length", "context window", "prompt is too long",
              "input is too long", "too many tokens", "maximum context",
              "exceeds the maximum number of tokens", "input token count"});
}

bool is_no_model(std::string_view words) {
  return has_any(words, {"model_not_found", "model not found"}) ||
         (has_any(words, {"not_found", "not found", "does not exist"}) &&
          has_any(words, {"model"}));
}

Meaning meaning_of_status(int status, std::string_view words) {
  if (status == 402 || is_out_of_quota(words)) return kOutOfQuota;
  if (status == 429) return kRateLimited;
  if (status == 503 || status == 529 || has_any(words, {"overloaded"})) return kOverloaded;
  if (status >= 500) return {};
  if (is_too_long(words)) return kTooLong;
  if (status == 401 || status == 403) return kForbidden;
  if (status == 404 || is_no_model(words)) return kNoModel;
  if (status == 408 || status == 409 || status == 425) return kTimeout;
  return kInvalid;
}

// Types of all dialects: they do not contradict each other.
int status_of_type(std::string_view type) {
  if (has_any(type, {"overloaded", "unavailable"})) return 529;
  if (has_any(type, {"rate_limit", "resource_exhausted", "too_many_requests", "429"})) return 429;
  if (has_any(type, {"authentication", "unauthenticated", "invalid_api_key"})) return 401;
  if (has_any(type, {"permission"})) return 403;
  if (has_any(type, {"billing", "insufficient_quota"})) return 402;
  if (has_any(type, {"not_found"})) return 404;
  if (has_any(type, {"timeout", "deadline_exceeded"})) return 408;
  if (has_any(type, {"invalid_request", "invalid_argument", "invalid_prompt"})) return 400;
  if (has_any(type, {"context_length"})) return 400;
  return 500;
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-.*+/=").find(c) != std::string_view::npos;
}

bool looks_like_key(std::string_view word, std::string_view key) {
  for (const std::string_view start : {"sk-", "AIza", "xai-", "gsk_", "pk-"}) {
    if (word.size() >= start.size() + kKeyPieceBytes && word.starts_with(start)) return true;
  }
  // A key as short as a word ("none") is not looked for inside of others.
  if (key.size() < kKeyPieceBytes) return word == key;
  for (std::size_t at = 0; at + kKeyPieceBytes <= key.size(); ++at) {
    if (word.find(key.substr(at, kKeyPieceBytes)) != word.npos) return true;
  }
  return false;
}

// Some types begin with the status.
std::string status_and_type(int status, const std::string& type) {
  const std::string number = std::to_string(status);
  if (type.empty()) return number;
  const bool repeats = type == number || type.starts_with(number + " ");
  return repeats ? short_message(type) : number + " " + short_message(type);
}

std::string text_of(const Json* value) {
  if (value == nullptr) return {};
  if (const std::string* text = value->if_string()) return *text;
  return value->is_number() ? value->number().text : std::string();
}

}  // namespace

ProviderError provider_error_of(std::string_view body) {
  const auto json = parse_json(body);
  const Json* root = json ? &*json : nullptr;
  // Gemini sends a list of one when it was asked for a list.
  if (root != nullptr && root->is_array() && !root->array().empty()) root = &root->array()[0];
  const Json* error = root != nullptr ? root->find("error") : nullptr;
  if (error == nullptr) return {"", short_message(body)};
  if (error->is_string()) return {"", short_message(error->string())};
  ProviderError found;
  for (const std::string_view key : {"type", "code", "status"}) {
    const std::string word = text_of(error->find(key));
    if (word.empty() || word == found.type) continue;
    found.type += (found.type.empty() ? "" : " ") + word;
  }
  found.message = short_message(text_of(error->find("message")));
  return found;
}

PhaseFailed failure_of_status(const HttpResponseHead& head, const ProviderError& error,
                              std::int64_t now_wall_ms) {
  const Meaning meaning = meaning_of_status(head.status, lower(error.type + " " + error.message));
  PhaseFailed failed;
  failed.category = meaning.category;
  failed.kind = meaning.kind;
  // The provider knows better than its status says: 409 of a lock, 500 of a request it cannot do.
  const ShouldRetry said = should_retry(head);
  if (said == ShouldRetry::no && meaning.kind == FailureKind::transient) {
    failed.kind = FailureKind::permanent;
  }
  if (said == ShouldRetry::yes && meaning.category == ErrorCategory::validation_error &&
      meaning.kind == FailureKind::permanent) {
    failed.category = ErrorCategory::llm_error;
    failed.kind = FailureKind::transient;
  }
  failed.message = "HTTP " + status_and_type(head.status, error.type);
  if (!error.message.empty()) failed.message += ": " + error.message;
  failed.retry_after_ms = retry_after_ms(head, now_wall_ms);
  return failed;
}

PhaseFailed failure_of_type(const ProviderError& error) {
  HttpResponseHead head;
  head.status = status_of_type(lower(error.type));
  PhaseFailed failed = failure_of_status(head, error, 0);
  failed.message = short_message(error.type.empty() ? "error" : error.type);
  if (!error.message.empty()) failed.message += ": " + error.message;
  return failed;
}

PhaseFailed protocol_failure(const std::string& message) {
  return {ErrorCategory::llm_error, "the response breaks the protocol: " + short_message(message),
          std::nullopt, FailureKind::transient};
}

PhaseFailed unfinished_reply() {
  return {ErrorCategory::network_error, "the stream ended before the reply did", std::nullopt,
          FailureKind::transient};
}

PhaseFailed empty_reply() {
  return {ErrorCategory::llm_error, "the model answered nothing", std::nullopt, FailureKind::empty};
}

std::variant<PhaseReplied, PhaseFailed> unless_empty(PhaseReplied reply, std::size_t blocks) {
  if (blocks == 0 && reply.stop == ReplyStop::end_turn) return empty_reply();
  return reply;
}

PhaseFailed limit_failure(const std::string& message) {
  return {ErrorCategory::validation_error, short_message(message), std::nullopt,
          FailureKind::permanent};
}

std::string short_message(std::string_view text) {
  std::string line = to_valid_utf8(text.substr(0, kFailureMessageBytesMax));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  if (text.size() > kFailureMessageBytesMax) line += " …";
  return line;
}

std::string without_key(std::string_view given, std::string_view key) {
  // First the key itself, which may hold anything; then what is left of it in words.
  std::string text(given);
  const bool searched = key.size() >= kKeyPieceBytes;
  for (std::size_t found = 0; searched && (found = text.find(key, found)) != text.npos;) {
    text.replace(found, key.size(), kRedacted);
    found += kRedacted.size();
  }
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = std::find_if_not(begin, text.end(), is_key_character);
    const std::string_view word(text.data() + at, static_cast<std::size_t>(end - begin));
    if (word.empty()) {
      out += text[at++];
      continue;
    }
    out += looks_like_key(word, key) ? kRedacted : word;
    at += word.size();
  }
  return out;
}

}  // namespace pawl::provider
