#include "pawl/models/catalogue.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl {
namespace {

using Support = ExecutorModelDescriptor::Support;

CatalogueReading read(std::string_view text) {
  const DocumentResult document = parse_yaml(text);
  REQUIRE_MESSAGE(document.root, to_string(document.faults, "f"));
  return read_catalogue(*document.root);
}

Catalogue good(std::string_view text) {
  CatalogueReading reading = read(text);
  REQUIRE_MESSAGE(reading.faults.empty(), to_string(reading.faults, "f"));
  return reading.catalogue;
}

std::string faults_of(std::string_view text) {
  return to_string(read(text).faults, "f");
}

TEST_CASE("the catalogue inside the program is whole") {
  const Catalogue catalogue = good(builtin_catalogue_text());

  CHECK(catalogue.count() > 150);
  CHECK(builtin_catalogue().count() == catalogue.count());
  CHECK(builtin_catalogue().find("openai/gpt-5")->prices == catalogue.find("openai/gpt-5")->prices);
  for (const char* const provider : {"anthropic", "openai", "gemini", "deepseek", "groq"}) {
    CAPTURE(provider);
    CHECK_FALSE(catalogue.models_of(provider).empty());
  }
  for (const ExecutorModelDescriptor& model : catalogue.models_of("anthropic")) {
    CAPTURE(model.id);
    CHECK(model.context_tokens >= 100'000);
    CHECK(model.max_output_tokens > 0);
    CHECK(model.prices.output > model.prices.input);
    CHECK(model.prices.cache_read < model.prices.input);
    CHECK(model.prices.cache_creation > model.prices.input);
  }
}

TEST_CASE("prices are integers of a token, by hand") {
  const auto model = good(builtin_catalogue_text()).find("anthropic/claude-haiku-4-5");
  REQUIRE(model);
  // 1 USD a million tokens is 10^-6 USD a token, 10^6 of our units.
  CHECK(model->prices == Prices{"USD", 1'000'000, 5'000'000, 100'000, 1'250'000, 2'000'000});
  const Usage usage{1'000, 200, 10'000, 400};
  CHECK(cost_pico(usage, model->prices) ==
        1'000ULL * 1'000'000 + 200ULL * 5'000'000 + 10'000ULL * 100'000 + 400ULL * 1'250'000);
}

TEST_CASE("tiers of prices are read, and an operator's take the place of ours") {
  Catalogue catalogue = good(
      "{version: 1, models: {a/x: {prices: {input: 5, output: 7, cache_creation: 6, tiers: "
      "[{above: 100, input: 10, output: 14}]}}}}");
  const auto tiered = catalogue.find("a/x");
  REQUIRE(tiered);
  CHECK(tiered->prices.cache_creation_1h == 6);
  // What a tier does not say of caches costs what its input costs.
  CHECK(tiered->prices.tiers == std::vector<PriceTier>{{100, {10, 14, 10, 10, 10}}});

  catalogue.merge(good("{version: 1, models: {a/x: {prices: {tiers: []}}}}"));
  CHECK(catalogue.find("a/x")->prices.tiers.empty());

  CHECK(faults_of("{version: 1, models: {a/x: {prices: {tiers: [{input: 1, output: 1}]}}}}")
            .find("above") != std::string::npos);
  CHECK(faults_of("{version: 1, models: {a/x: {prices: {tiers: {above: 1}}}}}") != "");
}

TEST_CASE("an operator's entries merge over ours field by field") {
  Catalogue catalogue = good(
      "{version: 1, models: {a/x: {context: 1000, output: 100, prices: {input: 5, output: 7}, "
      "images: true}}}");
  catalogue.merge(
      good("{version: 1, models: {a/x: {prices: {input: 6}, temperature: false}, "
           "b/y/z: {context: 3}}}"));

  const auto merged = catalogue.find("a/x");
  REQUIRE(merged);
  CHECK(merged->context_tokens == 1000);
  CHECK(merged->max_output_tokens == 100);
  CHECK(merged->prices == Prices{"USD", 6, 7, 6, 6, 6});
  CHECK(merged->images == Support::yes);
  CHECK(merged->temperature == Support::no);
  const auto models = catalogue.models_of("b");
  REQUIRE(models.size() == 1);
  CHECK(models.front().id == "y/z");
}

TEST_CASE("a dated snapshot has the facts of its model, and a stranger has none") {
  const Catalogue catalogue = good("{version: 1, models: {a/x: {context: 1000}}}");

  CHECK(catalogue.find("a/x-20260101")->context_tokens == 1000);
  CHECK(catalogue.find("a/x-2026-01-01")->id == "a/x-2026-01-01");
  CHECK_FALSE(catalogue.find("a/x-2026"));
  CHECK_FALSE(catalogue.find("a/xy"));
  CHECK(without_date("-20260101") == "-20260101");
}

TEST_CASE("every fault of a catalogue is named with its line") {
  CHECK(faults_of("models: {}") == "f:1:1: catalogue: \"version\" is missing (add \"version\")\n");
  CHECK(faults_of("version: 2\nmodels: {}") ==
        "f:1:10: catalogue: the catalogue has version 2, and this program reads 1\n");
  CHECK(faults_of("version: 1\nmodels:\n  claude: {}\n  a/x: {contxt: 3}\n") ==
        "f:3:3: catalogue: \"claude\" is not provider/model\n"
        "f:4:9: \"a/x\": unknown key \"contxt\" (did you mean \"context\"?)\n");
  CHECK(faults_of("{version: 1, models: {a/x: {prices: {input: 1.5, currency: usd}}}}") ==
        "f:1:60: \"a/x\".prices: \"currency\" must be a code such as USD\n"
        "f:1:45: \"a/x\".prices: \"input\" must be an integer from 0 to 1000000000000, found the "
        "decimal 1.5\n");
  CHECK_FALSE(faults_of("version: 1\nmodels: {a/x: {images: 1}}").empty());
  CHECK_FALSE(faults_of("version: 1\nmodels: {a/x: {context: -1}}").empty());
}

TEST_CASE("a literal is a provider and whatever comes after the first slash") {
  CHECK(split_literal("groq/meta-llama/llama-4")->model == "meta-llama/llama-4");
  CHECK(split_literal("ollama/qwen3:8b")->provider == "ollama");
  for (const char* const text : {"", "a", "/a", "a/", "A/b", "1a/b", "a b/c"}) {
    CAPTURE(text);
    CHECK_FALSE(split_literal(text));
  }
}

}  // namespace
}  // namespace pawl
