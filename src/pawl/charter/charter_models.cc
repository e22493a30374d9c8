#include "pawl/charter/charter_models.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "pawl/base/schema.h"
#include "pawl/json.h"

namespace pawl {

namespace {

constexpr std::string_view kExample = "anthropic/claude-sonnet-5";
constexpr std::array<std::string_view, 5> kEfforts = {"minimal", "low", "medium", "high", "max"};
constexpr std::array<std::string_view, 2> kStreams = {"auto", "off"};
constexpr std::size_t kMilliDigits = 3;
constexpr std::size_t kPercentDigits = 2;

std::string names_of(const ModelNames& names) {
  std::string text;
  for (const auto& [name, chain] : names.aliases) text += (text.empty() ? "" : ", ") + name;
  for (const auto& [name, chain] : names.tiers) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The only entry, or nothing: then the configuration has the word.
void choose_only(MapReader& reader, const Node* models, Charter& charter) {
  const ModelNames& names = charter.models;
  const std::size_t count = names.aliases.size() + names.tiers.size();
  if (count > 1) {
    return reader.fault(models->mark(), "several models are named and none is chosen",
                        "add model: with one of " + names_of(names));
  }
  if (count == 0) return;
  charter.model = names.aliases.empty() ? names.tiers.begin()->first : names.aliases.begin()->first;
}

// The text of a number; empty when it is none.
std::string_view number_text(const Node& node) {
  const bool is_number = node.kind() == Node::Kind::integer || node.kind() == Node::Kind::decimal;
  return is_number ? node.text() : std::string_view{};
}

void take_temperature(MapReader& reader, SamplingOptions& sampling) {
  const Node* node = reader.take("temperature");
  if (node == nullptr) return;
  const auto milli = parse_fixed_point(number_text(*node), kMilliDigits);
  if (milli && *milli <= kTemperatureMilliMax) {
    sampling.temperature_milli = static_cast<std::uint32_t>(*milli);
    return;
  }
  reader.fault(node->mark(),
               "\"temperature\" must be a number from 0 to 2 with at most three decimals, found " +
                   describe_kind(*node));
}

void take_ratio(MapReader& reader, CompactionPolicy& policy) {
  const Node* node = reader.take("ratio");
  if (node == nullptr) return;
  const auto percent = parse_fixed_point(number_text(*node), kPercentDigits);
  if (percent && *percent >= kRatioPercentMin && *percent <= kRatioPercentMax) {
    policy.ratio_percent = static_cast<std::uint32_t>(*percent);
    return;
  }
  reader.fault(node->mark(),
               "\"ratio\" must be a number from 0.10 to 0.95 with at most two decimals, found " +
                   describe_kind(*node));
}

}  // namespace

std::optional<std::uint64_t> parse_fixed_point(std::string_view text, std::size_t digits) {
  constexpr std::size_t kWholeDigitsMax = 9;
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view rest = point == text.size() ? "" : text.substr(point + 1);
  if (whole.empty() || whole.size() > kWholeDigitsMax || rest.size() > digits) return std::nullopt;
  if (point != text.size() && rest.empty()) return std::nullopt;
  std::string all(whole);
  all += rest;
  all.append(digits - rest.size(), '0');
  std::uint64_t value = 0;
  for (const char c : all) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

void read_chain(MapReader& reader, const Node& node, std::string_view key, std::string& out) {
  const auto text = node.as_string();
  if (text && is_model_chain(*text)) {
    out = *text;
    return;
  }
  reader.fault(node.mark(),
               quoted(key) + " must be a model or a chain of models, found " + describe_kind(node),
               "for example " + std::string(kExample));
}

void read_compaction(const Node& node, std::vector<Fault>& faults, CompactionPolicy& policy,
                     const std::string& where) {
  if (node.as_string() == "off") {
    policy.ratio_percent = 0;
    return;
  }
  MapReader reader(node, faults, where);
  take_ratio(reader, policy);
  reader.take_int("keep", {1, kKeepMessagesMax}, policy.keep_messages);
  if (const Node* model = reader.take("model")) read_chain(reader, *model, "model", policy.model);
  reader.finish();
}

void read_charter_models(MapReader& reader, const Node* chosen, ModelOf model,
                         std::vector<Fault>& faults, Charter& charter) {
  const Node* models = reader.take("models");
  if (models != nullptr) {
    const std::size_t faults_before = faults.size();
    read_model_names(*models, NamesAccepted::both, "models", faults, charter.models);
    if (chosen == nullptr && faults.size() != faults_before) return;  // one fault is enough
  }
  if (chosen == nullptr && model == ModelOf::nodes) return;
  if (chosen == nullptr) return choose_only(reader, models, charter);
  read_chain(reader, *chosen, "model", charter.model);
}

void read_sampling(MapReader& reader, SamplingOptions& sampling) {
  std::uint64_t tokens = 0;
  if (reader.take_int("max_tokens", {1, std::int64_t{kOutputTokensMax}}, tokens)) {
    sampling.max_output_tokens = tokens;
  }
  take_temperature(reader, sampling);
  if (const auto effort = reader.take_choice("effort", kEfforts)) {
    sampling.effort = static_cast<ReasoningEffort>(*effort + 1);  // the first is `unset`
  }
  if (const auto stream = reader.take_choice("stream", kStreams)) {
    sampling.stream = static_cast<Streaming>(*stream);
  }
}

void read_conversation(MapReader& reader, std::vector<Fault>& faults, Charter& charter) {
  if (const Node* header = reader.take("system_header")) {
    reader.take_string("system_header", charter.system_header);
    if (charter.system_header.size() > kSystemHeaderBytesMax) {
      reader.fault(header->mark(), "\"system_header\" may have " +
                                       std::to_string(kSystemHeaderBytesMax) + " bytes");
    }
  }
  if (const Node* node = reader.take("compaction")) {
    read_compaction(*node, faults, charter.compaction, "compaction");
  }
}

void read_output(const Node& node, std::vector<Fault>& faults, std::string& schema,
                 const std::string& where) {
  MapReader reader(node, faults, where);
  const Node* given = reader.require("schema");
  reader.finish();
  if (given == nullptr) return;
  const std::string text = to_json(*given);
  const auto json = parse_json(text);
  const auto compiled = json ? Schema::compile(*json) : Result<Schema>(json.error());
  if (!compiled) return reader.fault(given->mark(), "\"schema\": " + compiled.error().message);
  schema = text;
}

}  // namespace pawl
