// The cost of requests by the catalogue, against sums that are made here from the public list that
// the catalogue was made of (tests/golden/models/prices.json, see tools/make-models.py).
#include <doctest/doctest.h>

#include <charconv>

#include "pawl/base/decimal.h"
#include "pawl/base/rng.h"
#include "pawl/base/shared_data_test.h"
#include "pawl/json.h"
#include "pawl/models/catalogue.h"

namespace pawl {
namespace {

constexpr std::int64_t kPicoExponent = 12;

// A price of a row, in 10^-12 units; nullopt: it does not say.
std::optional<std::uint64_t> said_by(const Json& row, const std::string& key) {
  const Json* value = row.find(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  Decimal price = Decimal::parse(value->number().text);
  if (price.is_zero()) return 0;
  price.exponent += kPicoExponent;
  const auto text = integer_text(price, 18);
  REQUIRE(text);
  return std::stoull(*text);
}

// The thresholds of a row, in tokens: "input_cost_per_token_above_272k_tokens".
std::vector<std::uint64_t> thresholds(const Json& row) {
  constexpr std::string_view kBegin = "input_cost_per_token_above_";
  std::vector<std::uint64_t> found;
  for (const JsonMember& member : row.object().members()) {
    if (!member.key.starts_with(kBegin) || !member.key.ends_with("k_tokens")) continue;
    std::uint64_t thousands = 0;
    std::from_chars(member.key.data() + kBegin.size(), member.key.data() + member.key.size(),
                    thousands);
    REQUIRE(thousands > 0);
    found.push_back(thousands * 1'000);
  }
  return found;
}

// By one row of the list alone: the tier of the largest threshold that the input is above.
struct ListPrice {
  const Json& row;
  std::string above = {};

  ListPrice(const Json& of, std::uint64_t input_tokens) : row(of) {
    std::uint64_t highest = 0;
    for (const std::uint64_t threshold : thresholds(row)) {
      if (input_tokens <= threshold || threshold < highest) continue;
      highest = threshold;
      above = "_above_" + std::to_string(threshold / 1'000) + "k_tokens";
    }
  }
  // Where a tier does not say it: the price below the threshold, or what the input costs there.
  std::uint64_t of(const std::string& key, std::uint64_t otherwise) const {
    if (const auto price = said_by(row, key + above)) return *price;
    return said_by(row, key).value_or(otherwise);
  }
  std::uint64_t cost(const Usage& usage) const {
    const std::uint64_t input = of("input_cost_per_token", 0);
    const std::uint64_t written = of("cache_creation_input_token_cost", input);
    return usage.input_tokens * input + usage.output_tokens * of("output_cost_per_token", 0) +
           usage.cache_read_tokens * of("cache_read_input_token_cost", input) +
           usage.cache_creation_tokens * written +
           usage.cache_creation_1h_tokens *
               of("cache_creation_input_token_cost_above_1hr", written);
  }
};

Usage random_usage(Rng& rng) {
  const auto some = [&rng](std::uint64_t most) { return rng.one_in(2) ? 0 : rng.below(most); };
  Usage usage;
  usage.input_tokens = some(400'000);
  usage.output_tokens = some(64'000);
  usage.cache_read_tokens = some(400'000);
  usage.cache_creation_tokens = some(200'000);
  usage.cache_creation_1h_tokens = some(200'000);
  return usage;
}

// What is set aside for so much output and an input that is estimated (kernel/decide_model.cc).
std::uint64_t set_aside(const Prices& prices, std::uint64_t estimate, std::uint64_t output) {
  const Rates rates = worst_rates(prices, estimate, 2);
  return dearest_input(rates) * estimate + rates.output * output;
}

void check_model(const std::vector<Json>& rows, const Prices& prices, Rng& rng) {
  constexpr int kUsages = 200;
  for (int i = 0; i < kUsages; ++i) {
    const Usage usage = random_usage(rng);
    const std::uint64_t input = input_tokens_of(usage);
    CAPTURE(input);
    std::uint64_t listed = 0;
    std::uint64_t plain = 0;  // nothing of it cached
    const Usage uncached{input, usage.output_tokens, 0, 0, 0};
    for (const Json& row : rows) {
      listed = std::max(listed, ListPrice(row, input).cost(usage));
      plain = std::max(plain, ListPrice(row, input).cost(uncached));
    }
    CHECK(cost_pico(usage, prices) >= listed);
    CHECK(cost_pico(uncached, prices) >= plain);
    // "grok-4" has the prices of "grok-4-latest", whose row has more of them.
    if (prices.tiers.empty() || !thresholds(rows.front()).empty()) {
      CHECK(cost_pico(uncached, prices) == plain);
    }
    CHECK(set_aside(prices, input, usage.output_tokens) >= listed);
    // Estimated at half of what it is, the rates are still those that are paid.
    const Rates rates = worst_rates(prices, input / 2 + 1, 2);
    CHECK(dearest_input(rates) * input + rates.output * usage.output_tokens >= listed);
  }
}

TEST_CASE("no model costs less than the public list says, whatever was cached, however large") {
  const char* const source = std::getenv("PAWL_SOURCE_DIR");
  const std::filesystem::path folder(source != nullptr ? source : ".");
  const auto list = parse_json(shared_file(folder / "tests/golden/models/prices.json"));
  REQUIRE(list);
  const JsonObject& models = list->find("models")->object();
  const Catalogue catalogue = builtin_catalogue();
  CHECK(models.members().size() == catalogue.count());
  std::size_t tiered = 0;
  Rng rng(19);
  for (const JsonMember& member : models.members()) {
    CAPTURE(member.key);
    const auto model = catalogue.find(member.key);
    REQUIRE(model);
    const std::vector<Json>& rows = member.value.array();
    REQUIRE_FALSE(rows.empty());
    check_model(rows, model->prices, rng);
    const bool above = !thresholds(rows.front()).empty();
    tiered += above;
    if (above) CHECK(model->prices.tiers.size() == thresholds(rows.front()).size());
  }
  CHECK(tiered == 28);
}

TEST_CASE("sums of the providers' own price lists, by hand") {
  const Catalogue catalogue = builtin_catalogue();
  struct Sum {
    const char* model;
    Usage usage;
    const char* costs;
  };
  // Input, output, cache read, cache written for five minutes, for an hour.
  const std::vector<Sum> sums = {
      {"anthropic/claude-sonnet-4-5", {200'000, 1'000, 0, 0, 0}, "0.615 USD"},
      {"anthropic/claude-sonnet-4-5", {200'001, 1'000, 0, 0, 0}, "1.222506 USD"},
      {"anthropic/claude-sonnet-4-5", {0, 0, 1'000'000, 0, 0}, "0.60 USD"},
      {"anthropic/claude-sonnet-4-5", {0, 0, 0, 10'000, 10'000}, "0.0975 USD"},
      {"anthropic/claude-opus-4-8", {0, 0, 0, 0, 1'000'000}, "10.00 USD"},
      {"anthropic/claude-haiku-4-5", {0, 0, 0, 1'000'000, 1'000'000}, "3.25 USD"},
      {"gemini/gemini-2.5-pro", {100'000, 1'000, 100'000, 0, 0}, "0.1475 USD"},
      {"gemini/gemini-2.5-pro", {100'001, 1'000, 100'000, 0, 0}, "0.2900025 USD"},
      {"xai/grok-4.5", {200'001, 0, 0, 0, 0}, "0.800004 USD"},
      {"xai/grok-4", {128'001, 0, 0, 0, 0}, "0.768006 USD"},
      {"openai/gpt-5.4", {272'000, 1'000, 0, 0, 0}, "0.695 USD"},
      {"openai/gpt-5.4", {272'001, 1'000, 0, 0, 0}, "1.382505 USD"},
      {"openai/gpt-5.6", {72'001, 1'000, 200'000, 0, 0}, "0.96501 USD"},
  };
  for (const Sum& sum : sums) {
    CAPTURE(sum.model);
    const auto model = catalogue.find(sum.model);
    REQUIRE(model);
    CHECK(format_money(cost_pico(sum.usage, model->prices), "USD") == sum.costs);
  }
}

}  // namespace
}  // namespace pawl
