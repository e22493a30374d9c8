#include <doctest/doctest.h>

#include "pawl/json.h"
#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

struct Stage {
  Stage() {
    environment.rows = {{"anthropic/claude-sonnet-5",
                         1'000'000,
                         128'000,
                         {"USD", 2'000'000, 10'000'000, 200'000, 2'500'000},
                         {"thinking", "images"},
                         {"coder", "default"},
                         ""},
                        {"openai/gpt-x", 0, 0, {}, {}, {}, "set OPENAI_API_KEY"}};
  }
  int run(std::vector<const char*> words) {
    words.insert(words.begin(), "pawl");
    return run_cli(static_cast<int>(words.size()), words.data(), environment);
  }
  FakeEnvironment environment;
};

}  // namespace

TEST_CASE("models prints a row for each, with prices of a million tokens") {
  Stage stage;
  CHECK(stage.run({"models"}) == 0);
  CHECK(stage.environment.screen.out.find(
            "anthropic/claude-sonnet-5                        1M   128k   2.00 USD  10.00 USD  "
            "thinking,images  coder,default  configured\n") != std::string::npos);
  CHECK(stage.environment.screen.out.find("set OPENAI_API_KEY\n") != std::string::npos);
}

TEST_CASE("models can be listed as JSON, and only those that can be asked") {
  Stage stage;
  CHECK(stage.run({"models", "--json", "--configured"}) == 0);
  const std::string& out = stage.environment.screen.out;
  const auto json = parse_json(out);
  REQUIRE(json);
  CHECK(*json->find_string("id") == "anthropic/claude-sonnet-5");
  CHECK(json->find("context_tokens")->as_int64() == 1'000'000);
  CHECK(json->find("prices_pico")->find("cache_read")->as_int64() == 200'000);
  CHECK(json->find("names")->array().size() == 2);
  CHECK(json->find("configured")->boolean());
}

TEST_CASE("models shows that a price has tiers") {
  Stage stage;
  Prices& prices = stage.environment.rows.front().prices;
  prices.tiers = {{200'000, {4'000'000, 15'000'000, 400'000, 5'000'000, 8'000'000}}};

  CHECK(stage.run({"models"}) == 0);
  CHECK(stage.environment.screen.out.find(" 2.00 USD+ 10.00 USD+ ") != std::string::npos);
  CHECK(stage.environment.screen.out.find("\n+ more for requests") != std::string::npos);

  stage.environment.screen.out.clear();
  CHECK(stage.run({"models", "--json", "--configured"}) == 0);
  const auto json = parse_json(stage.environment.screen.out);
  REQUIRE(json);
  const JsonArray& tiers = json->find("prices_pico")->find("tiers")->array();
  REQUIRE(tiers.size() == 1);
  CHECK(tiers[0].find("above_tokens")->as_int64() == 200'000);
  CHECK(tiers[0].find("cache_creation_1h")->as_int64() == 8'000'000);
}

TEST_CASE("doctor asks providers only when it is told to") {
  Stage stage;
  CHECK(stage.run({"doctor"}) == 0);
  CHECK(stage.environment.probed == Probing::none);
  CHECK(stage.run({"doctor", "--live"}) == 0);
  CHECK(stage.environment.probed == Probing::live);
}

}  // namespace pawl
