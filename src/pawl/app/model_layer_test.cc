#include "pawl/assembly/model_layer.h"

#include <doctest/doctest.h>

#include <fstream>

#include "pawl/app/model_layer_stage_test.h"
#include "pawl/filter/secrets/secret_filter.h"

namespace pawl {
namespace {

struct Stage : ModelLayerStage {
  Result<ModelChoice> choose(const Charter& charter, const std::string& pinned = "") {
    PAWL_TRY(const ModelChains chains, layer().expand(charter, pinned));
    OwnTargets own;
    for (const ChainTarget& target : chains.model) {
      if (target.literal.starts_with("scripted")) {
        own[target.literal] = std::make_shared<FakeExecutor>(loop, std::vector{target.literal});
      }
    }
    return layer().route(charter, chains, own);
  }
  // The literals, or the message of the error.
  std::string chosen(const std::string& model) {
    Charter charter;
    charter.model = model;
    const auto choice = choose(charter);
    if (!choice) return choice.error().message;
    std::string text;
    for (const auto& target : choice->targets) text += (text.empty() ? "" : " ") + target.literal;
    return text;
  }
};

}  // namespace

TEST_CASE("names of the configuration, the environment and the program lead to targets") {
  Stage stage;
  stage.variables = {{"ANTHROPIC_API_KEY", "k"},
                     {"OPENAI_API_KEY", "k"},
                     {"PAWL_TIER_CHEAP", "openai/gpt-5-mini,anthropic/claude-haiku-4-5"}};
  stage.configure(
      "aliases: { planning: { provider: anthropic, model: claude-opus-5, effort: high } }\n"
      "tiers: { coder: [planning, openai/gpt-5] }\ndefault_provider: openai\n");

  CHECK(stage.chosen("planning") == "anthropic/claude-opus-5");
  CHECK(stage.chosen("coder") == "anthropic/claude-opus-5 openai/gpt-5");
  CHECK(stage.chosen("cheap") == "openai/gpt-5-mini anthropic/claude-haiku-4-5");
  CHECK(stage.chosen("gpt-5") == "openai/gpt-5");
  CHECK(stage.chosen("fast") == "anthropic/claude-haiku-4-5 openai/gpt-5.4-mini");
  Charter charter;
  charter.model = "coder";
  const auto choice = stage.choose(charter);
  REQUIRE(choice);
  CHECK(choice->targets.front().effort == ReasoningEffort::high);
}

TEST_CASE("a model that nobody executes, and a provider without a key, are refused with no call") {
  Stage stage;
  stage.variables = {{"ANTHROPIC_API_KEY", "k"}};
  CHECK(stage.chosen("anthropic/claude-haiku-5-5") ==
        "nobody here executes the model \"anthropic/claude-haiku-5-5\"; did you mean "
        "anthropic/claude-haiku-4-5 or anthropic/claude-fable-5 or anthropic/claude-opus-4-5?");
  CHECK(stage.chosen("claude-opus-5") ==
        "there is no model \"claude-opus-5\"; did you mean anthropic/claude-opus-5?");
  CHECK(stage.chosen("openai/gpt-5") ==
        "nothing is configured for openai/gpt-5: set OPENAI_API_KEY");
  CHECK(stage.chosen("openai/gpt-5,anthropic/claude-opus-5") == "anthropic/claude-opus-5");
  for (const auto& [name, executor] : stage.executors) CHECK(executor->calls.empty());
}

TEST_CASE("without a model the configuration decides, then a key, then the script inside") {
  Stage stage;
  CHECK(stage.chosen("") == "scripted");
  Charter charter;
  const auto scripted = stage.choose(charter);
  REQUIRE(scripted);
  REQUIRE(scripted->notes.size() == 1);
  CHECK(scripted->notes.front().find("no provider is configured") != std::string::npos);

  Stage keyed;
  keyed.variables = {{"ANTHROPIC_API_KEY", "k"}};
  CHECK(keyed.chosen("") == "anthropic/claude-sonnet-5");
  keyed.made.reset();
  keyed.configure("default_model: fast\n");
  CHECK(keyed.chosen("") == "anthropic/claude-haiku-4-5");
}

TEST_CASE("a server on this machine answers where no model is named and no key is set") {
  Stage stage;
  stage.local = "any-tiny:1b";
  CHECK(stage.chosen("") == "ollama/any-tiny:1b");
  CHECK(stage.asked == std::vector<std::string>{"http://127.0.0.1:11434"});
  // It sends no bills: a bound on money needs no price.
  Charter charter;
  charter.spending.cost_pico = 1;
  CHECK(stage.choose(charter));
  Stage keyed;
  keyed.local = "any-tiny:1b";
  keyed.variables = {{"ANTHROPIC_API_KEY", "k"}};
  CHECK(keyed.chosen("") == "anthropic/claude-sonnet-5");
  CHECK(keyed.asked.empty());
}

TEST_CASE("a bound on money needs a price, and a tenant's window a ledger") {
  Stage stage;
  stage.configure(
      "providers: { own: { dialect: openai_chat, base_url: 'http://127.0.0.1:1', key: "
      "none, models: { any-x: {}, any-y: { prices: { input: 0, output: 0 } } } } }\n");
  Charter charter;
  charter.spending.cost_pico = 1;
  charter.model = "own/any-x";
  CHECK_FALSE(stage.choose(charter));
  charter.model = "own/any-y";
  CHECK(stage.choose(charter));
  charter.spending.tenant = {{1'000, {0, 5, 0}, "USD"}};
  const auto refused = stage.choose(charter);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("data directory") != std::string::npos);
}

TEST_CASE("scripts alone make nobody look at providers") {
  Stage stage;
  stage.configure("providers: { openai: { base_url: 'http://127.0.0.1:1' } }\n");
  CHECK(stage.chosen("scripted/a.yaml") == "scripted/a.yaml");
  CHECK(stage.chosen("external") == "external");
  CHECK(stage.executors.empty());
}

TEST_CASE("what a charter asks must fit every target") {
  Stage stage;
  stage.configure(
      "providers: { local: { dialect: openai_chat, base_url: 'http://box', models: "
      "{ plain: { output: 100, temperature: false }, free: } } }\n");
  Charter charter;
  charter.model = "local/free";
  charter.sampling.temperature_milli = 700;
  charter.sampling.max_output_tokens = 101;
  CHECK(stage.choose(charter));

  charter.model = "local/free,local/plain";
  const auto hot = stage.choose(charter);
  REQUIRE_FALSE(hot);
  CHECK(hot.error().message == "the model local/plain takes no temperature");
  charter.sampling.temperature_milli.reset();
  const auto wordy = stage.choose(charter);
  REQUIRE_FALSE(wordy);
  CHECK(wordy.error().message ==
        "the model local/plain writes at most 100 tokens, and max_tokens is 101");
  charter.sampling.max_output_tokens = 100;
  CHECK(stage.choose(charter));
}

TEST_CASE("headers of the configuration and of the charter precede prompts, in this order") {
  Stage stage;
  stage.variables = {{"ANTHROPIC_API_KEY", "k"}};
  stage.configure("system_header: House rules.\n");
  Charter charter;
  charter.model = "anthropic/claude-opus-5";
  charter.system_header = "Of this charter.";
  const auto choice = stage.choose(charter);
  REQUIRE(choice);
  const WatchedPhase phase(*choice->executor, "anthropic/claude-opus-5");
  REQUIRE(stage.executors.at("anthropic")->calls.size() == 1);
  CHECK(stage.executors.at("anthropic")->calls[0]->request.system_prompt ==
        "House rules.\n\nOf this charter.\n\nBe brief.");
}

TEST_CASE("a charter's own provider is used beside those of the configuration") {
  Stage stage;
  Charter charter;
  charter.model = "mine/x";
  ProviderDeclaration& mine = charter.providers.emplace_back();
  mine.name = "mine";
  mine.dialect = "openai_chat";
  mine.base_url = "http://127.0.0.1:1";
  mine.models = {{"x", {}}};
  const auto choice = stage.choose(charter);
  REQUIRE_MESSAGE(choice, choice.error().message);
  CHECK(choice->targets.front().provider == "mine");
  mine.name = "openai";
  CHECK_FALSE(stage.choose(charter));
}

TEST_CASE("a tier that changes is used without a restart, when its time to live is over") {
  Stage stage;
  stage.variables = {{"ANTHROPIC_API_KEY", "some-key-1"}};
  stage.configure("tiers: { t: [anthropic/claude-opus-5] }\n");
  CHECK(stage.chosen("t") == "anthropic/claude-opus-5");
  stage.configure("tiers: { t: [anthropic/claude-sonnet-5] }\n");
  CHECK(stage.chosen("t") == "anthropic/claude-opus-5");
  stage.loop.advance(30'000);
  CHECK(stage.chosen("t") == "anthropic/claude-sonnet-5");
  stage.configure("tiers: 3\n");
  stage.loop.advance(30'000);
  CHECK(stage.chosen("t") == "anthropic/claude-sonnet-5");
  REQUIRE(stage.notes.size() == 1);
  CHECK(stage.notes.front().find("config.yaml:1:8") != std::string::npos);
}

TEST_CASE("an operator's catalogue merges over ours, and its faults have file and line") {
  Stage stage;
  stage.configure("catalogue: my-models.json\n");
  std::ofstream(stage.directory / "my-models.json")
      << R"({"version": 1, "models": {"openai/house-model": {"context": 77}}})";
  const auto view = stage.layer().view();
  REQUIRE_MESSAGE(view, view.error().message);
  bool found = false;
  for (const ProviderSetup& setup : view->providers) {
    for (const auto& model : setup.config.models) {
      found = found || (model.id == "house-model" && model.context_tokens == 77);
    }
  }
  CHECK(found);

  std::ofstream(stage.directory / "my-models.json") << "{\"version\": 1,\n \"models\": 3}";
  stage.made.reset();
  const auto broken = stage.layer().view();
  REQUIRE_FALSE(broken);
  CHECK(broken.error().message.find("my-models.json:2:12: ") != std::string::npos);
}

TEST_CASE("lines for whoever debugs have no secret in them") {
  TestLoop loop;
  std::vector<std::string> lines;
  ModelLayerOptions options;
  options.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name != "ANTHROPIC_API_KEY") return std::nullopt;
    return "sk-very-secret";
  };
  const auto known = std::make_shared<KnownSecrets>();
  options.filter = std::make_shared<SecretFilter>(known);
  options.debug = [&lines](const std::string& line) { lines.push_back(line); };
  options.factory = [&loop](ProviderConfig config) {
    if (config.name == "anthropic") config.debug("x-api-key: sk-very-secret");
    return std::make_shared<FakeExecutor>(loop);
  };
  ModelLayer layer(loop, with_program_parts(options, known));
  REQUIRE(layer.view());
  CHECK(lines == std::vector<std::string>{"x-api-key: [[pawl-secret:ANTHROPIC_API_KEY]]"});
}

TEST_CASE("nothing that was resolved is written to disk") {
  Stage stage;
  stage.variables = {{"ANTHROPIC_API_KEY", "k"}};
  CHECK(stage.chosen("smart") == "anthropic/claude-opus-5");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(stage.directory.path())) {
    CHECK(entry.path().filename() == "config.yaml");
    ++files;
  }
  CHECK(files == 1);
}

}  // namespace pawl
