#include "pawl/testing.h"

#include <string_view>
#include <utility>

namespace pawl {

namespace {

constexpr std::string_view kNumberMark = "{{n}}";

std::string_view ordinal_suffix(std::uint64_t number) {
  if (number % 100 >= 11 && number % 100 <= 13) return "th";
  switch (number % 10) {
    case 1:
      return "st";
    case 2:
      return "nd";
    case 3:
      return "rd";
    default:
      return "th";
  }
}

}  // namespace

ScriptReply ScriptReply::say(std::string text) {
  ScriptSpeech speech;
  speech.text.push_back(std::move(text));
  return {.outcome = std::move(speech)};
}

ScriptReply ScriptReply::call(std::string tool, std::string input) {
  return call_all({ScriptCall{std::move(tool), std::move(input)}});
}

ScriptReply ScriptReply::call_all(std::vector<ScriptCall> calls) {
  ScriptSpeech speech;
  speech.calls = std::move(calls);
  return {.outcome = std::move(speech)};
}

ScriptReply ScriptReply::fail(ErrorCategory category, std::string message) {
  return {.outcome = ScriptFailure{category, std::move(message)}};
}

ExecutorCapabilities scripted_capabilities() {
  ExecutorCapabilities capabilities;
  capabilities.supports_conversation_replay = true;
  capabilities.supports_thinking = true;
  capabilities.max_context_tokens = 200'000;
  return capabilities;
}

const ScriptReply* reply_at(const Script& script, std::uint64_t position) {
  if (position < script.replies.size()) return &script.replies[position];
  const bool repeats = script.after_last == Script::AfterLast::repeats_last;
  return repeats && !script.replies.empty() ? &script.replies.back() : nullptr;
}

std::string ran_out(const Script& script, std::uint64_t position) {
  const std::size_t count = script.replies.size();
  return "the script " + script.name + " has " + std::to_string(count) +
         (count == 1 ? " reply" : " replies") + " and was asked for a " +
         std::to_string(position + 1) + std::string(ordinal_suffix(position + 1));
}

std::string numbered(const std::string& text, std::uint64_t number) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(kNumberMark); at != std::string::npos;
       at = text.find(kNumberMark, from)) {
    out.append(text, from, at - from).append(std::to_string(number));
    from = at + kNumberMark.size();
  }
  return out.append(text, from);
}

}  // namespace pawl
