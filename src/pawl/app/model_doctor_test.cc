#include "pawl/service/model_doctor.h"

#include <doctest/doctest.h>

#include "pawl/app/model_layer_stage_test.h"

namespace pawl {
namespace {

struct DoctorStage : ModelLayerStage {
  using ModelLayerStage::ModelLayerStage;
  std::string probe() {
    return text_of(probe_providers(layer(), loop, [this](const std::function<bool()>& done) {
      while (!done() && loop.skip_to_next_timer()) continue;
    }));
  }
  static std::string text_of(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) {
      text += std::to_string(static_cast<int>(finding.grade)) + " " + finding.about + ": " +
              finding.text + "; " + finding.remedy + "\n";
    }
    return text;
  }
  int requests() const {
    int count = 0;
    for (const auto& [name, executor] : executors) {
      count += executor->probes + static_cast<int>(executor->calls.size());
    }
    return count;
  }
};

const ModelRow* find_row(const std::vector<ModelRow>& rows, const std::string& id) {
  for (const ModelRow& row : rows) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("every model is a row, with its names and what is missing") {
  DoctorStage stage(
      "aliases: { planning: anthropic/claude-opus-5, tuned: 'openai/ft:mine', odd: nobody/x }\n"
      "tiers: { best: [planning, openai/gpt-5] }\n");
  stage.variables = {{"ANTHROPIC_API_KEY", "k"}};
  const auto rows = list_models(stage.layer());
  REQUIRE(rows);

  const ModelRow* opus = find_row(*rows, "anthropic/claude-opus-5");
  REQUIRE(opus != nullptr);
  CHECK(opus->names == std::vector<std::string>{"planning", "best", "smart"});
  CHECK(opus->missing.empty());
  CHECK(opus->context_tokens == 1'000'000);
  CHECK(opus->capabilities == std::vector<std::string>{"thinking", "images", "schema"});
  CHECK(find_row(*rows, "openai/gpt-5")->missing == "set OPENAI_API_KEY");
  CHECK(find_row(*rows, "openai/ft:mine")->missing == "set OPENAI_API_KEY");
  CHECK(find_row(*rows, "nobody/x")->missing == "no provider has it");
  CHECK(stage.requests() == 0);
}

TEST_CASE("doctor says what is configured and what is missing, and asks nobody") {
  DoctorStage stage(
      "providers: { groq: { key: env:ABSENT },\n"
      "  plain: { dialect: openai_chat, base_url: 'http://box.lan', key: env:PLAIN } }\n"
      "aliases: { odd: anthropic/gpt-9, round: round }\n");
  stage.variables = {{"ANTHROPIC_API_KEY", "very-secret"}, {"PLAIN", "very-secret"}};
  const std::string text = DoctorStage::text_of(examine_providers(stage.layer()));

  CHECK(text.find("0 provider anthropic: https://api.anthropic.com, key from environment variable "
                  "ANTHROPIC_API_KEY; \n") != std::string::npos);
  CHECK(text.find("1 provider groq: https://api.groq.com/openai/v1, key from environment variable "
                  "ABSENT; set ABSENT\n") != std::string::npos);
  CHECK(text.find("1 provider plain: http://box.lan, key from environment variable PLAIN; the key "
                  "is sent without encryption: use https\n") != std::string::npos);
  CHECK(text.find("openai (set OPENAI_API_KEY)") != std::string::npos);
  CHECK(text.find("1 models: odd: nobody has the model anthropic/gpt-9; ") != std::string::npos);
  CHECK(text.find("1 models: round: the names of models lead in a circle: round -> round; ") !=
        std::string::npos);
  CHECK(text.find("very-secret") == std::string::npos);
  CHECK(stage.requests() == 0);
}

TEST_CASE("a configuration with faults is a problem") {
  DoctorStage stage("tiers: 3\n");
  const std::string text = DoctorStage::text_of(examine_providers(stage.layer()));
  CHECK(text.find("2 models: the configuration file has faults") == 0);
}

TEST_CASE("live makes exactly one request to each provider that is configured") {
  DoctorStage stage;
  stage.variables = {{"ANTHROPIC_API_KEY", "k"}, {"OPENAI_API_KEY", "k"}};
  REQUIRE(stage.layer().view());
  stage.executors.at("openai")->probe_result =
      Error{ErrorCode::invalid_argument, "the key was rejected"};

  CHECK(stage.probe() ==
        "0 provider anthropic: answered, and took the key; \n"
        "2 provider openai: the key was rejected; look at the key and the base_url of openai\n");
  CHECK(stage.requests() == 2);
  CHECK(stage.executors.at("groq")->probes == 0);
}

TEST_CASE("a provider that does not answer is a problem, and nobody to ask is none") {
  DoctorStage stage;
  CHECK(stage.probe() == "0 providers: none is configured: nobody was asked; \n");
  TestLoop loop;
  ModelLayerOptions options;
  options.environment = [](const std::string& name) -> std::optional<std::string> {
    return name == "GROQ_API_KEY" ? std::optional<std::string>("k") : std::nullopt;
  };
  ModelLayer unarmed(loop, with_program_parts(options));  // without a factory
  const auto nobody = probe_providers(unarmed, loop, [](const std::function<bool()>&) {});
  REQUIRE(nobody.size() == 1);
  CHECK(nobody.front().grade == Finding::Grade::problem);
  DoctorStage silent;
  silent.variables = {{"ANTHROPIC_API_KEY", "k"}};
  REQUIRE(silent.layer().view());
  silent.executors.at("anthropic")->answers_probes = false;
  CHECK(silent.probe().find("2 provider anthropic: did not answer in time; ") == 0);
}

}  // namespace pawl
