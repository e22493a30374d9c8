#include "pawl/adapter/provider/openai/openai_wire.h"

#include <algorithm>
#include <charconv>

#include "pawl/adapter/provider/common/media.h"
#include "pawl/adapter/provider/common/wire_numbers.h"
#include "pawl/adapter/provider/common/wire_request.h"
#include "pawl/base/base64.h"

namespace pawl::provider {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "v1", "v4", "v1beta".
bool is_version(std::string_view segment) {
  return segment.size() >= 2 && segment[0] == 'v' && is_digit(segment[1]);
}

bool has_version(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != url.npos) url.remove_prefix(scheme + 3);
  std::size_t slash = url.find('/');
  while (slash != url.npos) {
    url.remove_prefix(slash + 1);
    slash = url.find('/');
    if (is_version(url.substr(0, slash))) return true;
  }
  return false;
}

// "gpt-5.2-codex" is 502, "gpt-5" is 500; 0 for what is no GPT. A router's prefix does not count.
int gpt_version(std::string_view model) {
  model.remove_prefix(model.rfind('/') == model.npos ? 0 : model.rfind('/') + 1);
  if (!model.starts_with("gpt-")) return 0;
  model.remove_prefix(4);
  constexpr int kPartMax = 99;
  int major = 0;
  int minor = 0;
  const char* const end = model.data() + model.size();
  auto read = std::from_chars(model.data(), end, major);
  if (read.ec != std::errc() || major > kPartMax) return 0;
  if (read.ptr != end && *read.ptr == '.') {
    read = std::from_chars(read.ptr + 1, end, minor);
    if (read.ec != std::errc() || minor > kPartMax) minor = 0;
  }
  return major * 100 + minor;
}

constexpr int kGptWithMinimal = 500;
constexpr int kGptWithXhigh = 502;

}  // namespace

std::string openai_url(std::string_view base_url, std::string_view path) {
  std::string url(base_url);
  if (!has_version(base_url)) url += "/v1";
  return url.append(path);
}

WireRequest post_json(const WireOptions& options, std::string_view path, HttpBody body,
                      Streaming stream) {
  return json_post(openai_url(options.base_url, path), json_headers(options), std::move(body),
                   stream);
}

HttpHeader bearer_credentials(const std::string& key) {
  return {"authorization", "Bearer " + key, HttpHeader::Secrecy::secret};
}

WireRequest models_probe(const WireOptions& options) {
  return list_probe(openai_url(options.base_url, "/models"), options.headers);
}

std::string_view effort_word(ReasoningEffort effort, std::string_view model) {
  switch (effort) {
    case ReasoningEffort::unset:
      return "";
    case ReasoningEffort::minimal:
      return gpt_version(model) == kGptWithMinimal ? "minimal" : "low";
    case ReasoningEffort::low:
      return "low";
    case ReasoningEffort::medium:
      return "medium";
    case ReasoningEffort::high:
      return "high";
    case ReasoningEffort::max:
      break;
  }
  const bool knows_xhigh = gpt_version(model) >= kGptWithXhigh ||
                           model.find("gpt-5.1-codex-max") != std::string_view::npos;
  return knows_xhigh ? "xhigh" : "high";
}

Result<FlatValue> read_wire_json(FlatJson& json, std::string_view text) {
  auto value = json.read(text);
  if (!value) return Error{value.error().code, "not JSON: " + value.error().message};
  if (!value->is_object()) return Error{ErrorCode::invalid_argument, "not a JSON object"};
  return value;
}

std::string_view text_of(const Json& object, std::string_view key) {
  const std::string* text = object.find_string(key);
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

FlatValue member_of(const FlatValue& object, std::string_view key) {
  const FlatValue member = object.find(key);
  return member.is_null() ? FlatValue() : member;
}

std::optional<std::uint64_t> count_of(const FlatValue& object, std::string_view key) {
  const FlatValue member = member_of(object, key);
  return member ? token_count(member) : 0;
}

Usage usage_of(const OpenAiUsage& counts) {
  Usage usage;
  const std::uint64_t cached = std::min(counts.cached, counts.input);
  const std::uint64_t written = std::min(counts.cache_written, counts.input - cached);
  usage.input_tokens = counts.input - cached - written;
  usage.output_tokens = counts.output;
  usage.cache_read_tokens = cached;
  usage.cache_creation_tokens = written;
  return usage;
}

bool is_cut_off(std::string_view json) {
  std::size_t open = 0;
  bool inside_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (inside_string) {
      if (c == '\\') ++i;
      if (c == '"') inside_string = false;
    } else if (c == '"') {
      inside_string = true;
    } else if (c == '{' || c == '[') {
      ++open;
    } else if ((c == '}' || c == ']') && open > 0) {
      --open;
    }
  }
  return inside_string || open > 0;
}

std::string answered_by(const WireOptions& options, std::string_view reported_model) {
  return options.name + "/" +
         std::string(reported_model.empty() ? std::string_view(options.model.id) : reported_model);
}

void put_service_tier(JsonWriter& out, const WireOptions& options) {
  constexpr std::string_view kOpenAi = "https://api.openai.com";
  const bool itself = options.name == "openai" && options.base_url.starts_with(kOpenAi);
  if (itself) out.field("service_tier", "default");
}

std::string data_url(const AttachmentPart& attachment) {
  return "data:" + plain_media_type(attachment.media_type) + ";base64," +
         to_base64(attachment.bytes);
}

std::string file_name(const AttachmentPart& attachment) {
  return attachment.name.empty() ? "document.pdf" : attachment.name;
}

std::string result_text(const ResultPart& result) {
  return result.outcome == Message::Outcome::error ? "Error: " + result.text : result.text;
}

}  // namespace pawl::provider
