#include "pawl/testing/fake_provider/dialects/render.h"

#include <utility>

namespace pawl::fake {
namespace {

constexpr std::uint64_t kFirstCreatedAt = 1'767'225'600;  // 2026-01-01T00:00:00Z
constexpr std::size_t kInputDeltaBytes = 14;
constexpr std::size_t kInputDeltasMax = 4'096;
constexpr std::string_view kAlphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kHexDigits = 16;
constexpr std::string_view kHex = "0123456789abcdef";

const FaultSpec* lie_of(const RenderInput& input) {
  const auto& fault = input.reply.fault;
  return fault && fault->kind == FaultKind::lying_usage ? &*fault : nullptr;
}

}  // namespace

std::string Ids::letters(std::size_t count) {
  std::string out(count, '0');
  for (char& c : out) c = kAlphabet[rng_.below(kAlphabet.size())];
  return out;
}

std::string Ids::hex(std::size_t count) {
  std::string out(count, '0');
  for (char& c : out) c = kHex[rng_.below(kHexDigits)];
  return out;
}

std::string Ids::padding(std::size_t max) {
  return std::string(rng_.below(max + 1), ' ');
}

std::uint64_t created_at(std::uint64_t number) {
  return kFirstCreatedAt + number;
}

std::vector<std::string> input_deltas(const std::string& input) {
  return cut_text(input, std::max(kInputDeltaBytes, input.size() / kInputDeltasMax + 1));
}

FakeUsage usage_of(const RenderInput& input) {
  if (input.reply.usage) return *input.reply.usage;
  FakeUsage usage;
  usage.input = input.request.input_tokens;
  std::size_t bytes = joined(input.reply.text).size();
  for (const FakeCall& call : input.reply.calls) bytes += call.tool.size() + call.input.size();
  if (!input.reply.thinking.empty()) {
    usage.thinking = estimated_tokens(joined(input.reply.thinking).size());
  }
  usage.output = estimated_tokens(bytes) + usage.thinking;
  return usage;
}

void put_count(JsonWriter& json, const RenderInput& input, std::string_view key,
               std::uint64_t count) {
  json.key(key);
  if (const FaultSpec* lie = lie_of(input)) {
    json.raw(lie->usage);
  } else {
    json.number(count);
  }
}

bool omits_usage(const RenderInput& input) {
  const FaultSpec* lie = lie_of(input);
  return lie != nullptr && lie->usage == "missing";
}

Rendered json_reply(int status, Headers headers, std::string body) {
  Rendered reply;
  reply.status = status;
  reply.headers = std::move(headers);
  reply.headers.insert(reply.headers.begin(), {"content-type", "application/json"});
  reply.frames.push_back({FrameKind::closing, std::move(body)});
  return reply;
}

Headers vendor_headers(Vendor vendor, std::uint64_t number) {
  constexpr std::uint64_t kNotThoseOfTheBody = 1ULL << 40U;
  Ids ids(number + kNotThoseOfTheBody);
  if (vendor == Vendor::anthropic) {
    const std::string reset = "2026-01-01T00:01:00Z";
    return {{"anthropic-ratelimit-requests-limit", "20000"},
            {"anthropic-ratelimit-requests-remaining", "19999"},
            {"anthropic-ratelimit-requests-reset", reset},
            {"anthropic-ratelimit-tokens-limit", "4800000"},
            {"anthropic-ratelimit-tokens-remaining", "4800000"},
            {"anthropic-ratelimit-tokens-reset", reset},
            {"request-id", "req_011" + ids.letters(21)}};
  }
  if (vendor == Vendor::openai) {
    return {{"openai-processing-ms", "12"},          {"openai-version", "2020-10-01"},
            {"x-ratelimit-limit-requests", "10000"}, {"x-ratelimit-remaining-requests", "9999"},
            {"x-ratelimit-reset-requests", "6ms"},   {"x-request-id", "req_" + ids.hex(32)}};
  }
  return {};
}

Rendered render(const RenderInput& input) {
  switch (input.request.route.api) {
    case Api::anthropic_messages:
      return render_anthropic(input);
    case Api::openai_responses:
      return render_responses(input);
    case Api::gemini_generate:
    case Api::gemini_stream:
      return render_gemini(input);
    default:
      return render_chat(input);
  }
}

}  // namespace pawl::fake
