// models: what charters can name, and what is missing before it can be asked.
#include <fmt/format.h>

#include <algorithm>

#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::size_t kIdColumns = 60;
constexpr std::size_t kRestColumns = 200;
constexpr std::uint64_t kPerMillion = 1'000'000;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text.empty() ? "-" : text;
}

// "200k", "1M": for the eye; JSON has the number.
std::string tokens(std::uint64_t count) {
  constexpr std::uint64_t kThousand = 1'000;
  if (count == 0) return "-";
  if (count % kPerMillion == 0) return fmt::format("{}M", count / kPerMillion);
  return count < kThousand ? std::to_string(count) : fmt::format("{}k", count / kThousand);
}

// Of a million tokens; with a '+' where large requests cost another price.
std::string price(std::uint64_t pico, const Prices& prices) {
  if (pico == 0) return "-";
  return format_money(pico * kPerMillion, prices.currency) + (prices.tiers.empty() ? "" : "+");
}

void put_rates(JsonWriter& json, const Rates& rates) {
  json.field("input", rates.input).field("output", rates.output);
  json.field("cache_read", rates.cache_read).field("cache_creation", rates.cache_creation);
  json.field("cache_creation_1h", rates.cache_creation_1h);
}

std::string line_of(const ModelRow& row) {
  const Prices& prices = row.prices;
  const std::string state = row.missing.empty() ? "configured" : row.missing;
  return fmt::format("{:<44} {:>6} {:>6} {:>10} {:>10}  {}  {}  {}\n",
                     safe_line(row.id, kIdColumns), tokens(row.context_tokens),
                     tokens(row.output_tokens), price(prices.input, prices),
                     price(prices.output, prices), joined(row.capabilities),
                     safe_line(joined(row.names), kRestColumns), safe_line(state, kRestColumns));
}

std::string json_of(const ModelRow& row) {
  JsonWriter json;
  json.begin_object().field("id", row.id).field("context_tokens", row.context_tokens);
  json.field("output_tokens", row.output_tokens).key("prices_pico").begin_object();
  json.field("currency", row.prices.currency);
  put_rates(json, rates_at(row.prices, 0));
  json.key("tiers").begin_array();
  for (const PriceTier& tier : row.prices.tiers) {
    json.begin_object().field("above_tokens", tier.above_tokens);
    put_rates(json, tier.rates);
    json.end_object();
  }
  json.end_array().end_object();
  json.key("capabilities").begin_array();
  for (const std::string& one : row.capabilities) json.string(one);
  json.end_array().key("names").begin_array();
  for (const std::string& one : row.names) json.string(one);
  json.end_array().field("configured", row.missing.empty()).field("missing", row.missing);
  return json.end_object().take() + "\n";
}

int command_models(const CliContext& context) {
  auto rows = context.environment.models(context.settings);
  if (!rows) return fail(context, rows.error());
  if (context.arguments.has("configured")) {
    std::erase_if(*rows, [](const ModelRow& row) { return !row.missing.empty(); });
  }
  const bool json = context.format() == Format::json;
  std::string text = json ? ""
                          : fmt::format("{:<44} {:>6} {:>6} {:>10} {:>10}  {}\n", "MODEL", "IN",
                                        "OUT", "IN/M", "OUT/M", "CAN  NAMES  STATE");
  bool tiered = false;
  for (const ModelRow& row : *rows) {
    text += json ? json_of(row) : line_of(row);
    tiered = tiered || !row.prices.tiers.empty();
  }
  if (tiered && !json) text += "+ more for requests with a large input: see --json\n";
  print(context, text);
  return kExitDone;
}

}  // namespace

CommandEntry models_entry() {
  return {
      .name = "models",
      .summary = "List the models that charters can name",
      .text =
          "One row a model: its size, what a million tokens cost, what it can do, which aliases "
          "and tiers lead to it, and what is missing before it can be asked. Asks no provider.",
      .options = {{"configured", '\0', Takes::nothing, "", "Only those that can be asked."}},
      .run = command_models,
  };
}

}  // namespace pawl
