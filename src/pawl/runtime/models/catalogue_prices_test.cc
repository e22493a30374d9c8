// What requests cost by the catalogue, against sums that are made here from the public list.
#include <doctest/doctest.h>

#include "pawl/base/decimal.h"
#include "pawl/base/json.h"
#include "pawl/base/shared_data_test.h"
#include "pawl/runtime/models/catalogue.h"

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

// The list's rows of "provider/model": some models have two.
using Rows = std::vector<const Json*>;

// The higher price of the rows.
std::optional<std::uint64_t> listed(const Rows& rows, const std::string& key) {
  std::optional<std::uint64_t> most;
  for (const Json* row : rows) {
    if (const auto price = said_by(*row, key)) most = std::max(most.value_or(0), *price);
  }
  return most;
}

Rows rows_of(const JsonObject& list, const std::string& literal) {
  Rows rows;
  const std::string model = literal.substr(literal.find('/') + 1);
  for (const std::string& key : {model, literal}) {
    const Json* row = list.find(key);
    if (row == nullptr) continue;
    if (*row->find_string("litellm_provider") + "/" == literal.substr(0, literal.find('/') + 1)) {
      rows.push_back(row);
    }
  }
  return rows;
}

// By the list alone. What it does not say about caches is not compared.
struct ListPrice {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::optional<std::uint64_t> cache_read;
  std::optional<std::uint64_t> cache_creation;
  std::optional<std::uint64_t> cache_creation_1h;
};

ListPrice list_price(const Rows& row, bool large) {
  const std::string above = large ? "_above_200k_tokens" : "";
  ListPrice price;
  price.input = *listed(row, "input_cost_per_token" + above);
  price.output = *listed(row, "output_cost_per_token" + above);
  if (large) return price;
  price.cache_read = listed(row, "cache_read_input_token_cost");
  price.cache_creation = listed(row, "cache_creation_input_token_cost");
  price.cache_creation_1h = listed(row, "cache_creation_input_token_cost_above_1hr");
  return price;
}

void check_base(const Rows& row, const Prices& prices) {
  const ListPrice base = list_price(row, false);
  CHECK(cost_pico({1'000, 200, 0, 0}, prices) == 1'000 * base.input + 200 * base.output);
  const std::uint64_t read = base.cache_read.value_or(base.input);
  CHECK(cost_pico({10, 0, 5'000, 0}, prices) == 10 * base.input + 5'000 * read);
  // Never less than the input that is written.
  const std::uint64_t written = std::max(base.cache_creation.value_or(0), base.input);
  CHECK(cost_pico({0, 0, 0, 700}, prices) == 700 * written);
  // Never less than the list says, nor than five minutes.
  const std::uint64_t hour = cost_pico({0, 0, 0, 0, 700}, prices);
  CHECK(hour >= 700 * base.cache_creation_1h.value_or(written));
  CHECK(hour >= 700 * written);
}

void check_large(const Rows& row, const Prices& prices) {
  const ListPrice base = list_price(row, false);
  CHECK(cost_pico({200'000, 10, 0, 0}, prices) == 200'000 * base.input + 10 * base.output);
  const ListPrice large = list_price(row, true);
  CHECK(cost_pico({200'001, 10, 0, 0}, prices) == 200'001 * large.input + 10 * large.output);
  // Reached by what was cached: still as dear, class by class, as the input grew.
  const std::uint64_t read = base.cache_read.value_or(base.input) * large.input / base.input;
  CHECK(cost_pico({1, 10, 200'000, 0}, prices) == large.input + 200'000 * read + 10 * large.output);
  const std::uint64_t written = base.cache_creation.value_or(base.input) * large.input / base.input;
  CHECK(cost_pico({1, 0, 0, 200'000}, prices) == large.input + 200'000 * written);
  // Half of the threshold may be beyond it: an estimate may be wrong.
  CHECK(worst_rates(prices, 100'001).input == large.input);
  CHECK(worst_rates(prices, 100'001).output == large.output);
}

TEST_CASE("every model costs what the public list says, whatever was cached and however large") {
  const std::string text = shared_file(shared_data() / "models/prices-2026-08.json");
  const Catalogue catalogue = builtin_catalogue();
  if (text.empty()) {
    MESSAGE("the list of prices is not there: ", catalogue.count(), " models are not compared");
    return;
  }
  const auto list = parse_json(text);
  REQUIRE(list);
  std::size_t compared = 0;
  std::size_t tiered = 0;
  for (const char* provider :
       {"anthropic", "openai", "gemini", "deepseek", "groq", "mistral", "xai"}) {
    for (const ExecutorModelDescriptor& model : catalogue.models_of(provider)) {
      const std::string literal = std::string(provider) + "/" + model.id;
      CAPTURE(literal);
      const Rows rows = rows_of(list->object(), literal);
      REQUIRE_FALSE(rows.empty());
      ++compared;
      check_base(rows, model.prices);
      const bool large = listed(rows, "input_cost_per_token_above_200k_tokens").has_value();
      CHECK(model.prices.tiers.empty() != large);
      tiered += large;
      if (large) check_large(rows, model.prices);
    }
  }
  CHECK(compared == catalogue.count());
  CHECK(tiered >= 10);
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
