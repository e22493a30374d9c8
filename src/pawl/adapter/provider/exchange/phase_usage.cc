#include "pawl/adapter/provider/exchange/phase_usage.h"

#include <algorithm>

#include "pawl/adapter/provider/common/wire_numbers.h"

namespace pawl::provider {
namespace {

std::uint64_t tokens_of(std::uint64_t bytes) {
  return (bytes + kBytesPerTokenEstimate - 1) / kBytesPerTokenEstimate;
}

void raise_to(std::uint64_t& counter, std::uint64_t value) {
  counter = std::max(counter, std::min(value, kTokenCountMax));
}

}  // namespace

bool PhaseUsage::take(PhaseExecutorEvent& event) {
  if (const auto* text = std::get_if<TextDelta>(&event)) output_bytes_ += text->text.size();
  if (const auto* thought = std::get_if<ThinkingDelta>(&event)) {
    output_bytes_ += thought->text.size();
  }
  if (const auto* call = std::get_if<ToolCallProposed>(&event)) output_bytes_ += call->input.size();
  auto* said = std::get_if<UsageReported>(&event);
  if (said == nullptr) return true;
  const Usage before = usage_;
  raise_to(usage_.input_tokens, said->usage.input_tokens);
  raise_to(usage_.output_tokens, said->usage.output_tokens);
  raise_to(usage_.cache_read_tokens, said->usage.cache_read_tokens);
  raise_to(usage_.cache_creation_tokens, said->usage.cache_creation_tokens);
  raise_to(usage_.cache_creation_1h_tokens, said->usage.cache_creation_1h_tokens);
  said->usage = usage_;
  return usage_ != before;
}

bool PhaseUsage::estimate_input() {
  if (input_tokens_of(usage_) > 0) return false;
  const std::uint64_t output = usage_.output_tokens;
  if (input_tokens_of(reserved_) > 0) {
    usage_ = reserved_;
    usage_.output_tokens = output;
  } else {
    usage_.input_tokens = tokens_of(sent_bytes_);
  }
  return true;
}

bool PhaseUsage::estimate_output() {
  // What a provider says before the end may be a small part of it.
  if (completed_ && usage_.output_tokens > 0) return false;
  const std::uint64_t before = usage_.output_tokens;
  raise_to(usage_.output_tokens, tokens_of(output_bytes_));
  if (lost_) raise_to(usage_.output_tokens, reserved_.output_tokens);
  return usage_.output_tokens > before;
}

std::string PhaseUsage::settle() {
  if (!accepted_ && !lost_) return {};
  const bool input = estimate_input();
  const bool output = estimate_output();
  if (!input && !output) return {};
  const std::string what = input && output ? "input and output" : input ? "input" : "output";
  return "usage: the provider did not report the " + what + " tokens; charged an estimate" +
         (lost_ ? ", and what was reserved where the reply was lost" : "");
}

}  // namespace pawl::provider
