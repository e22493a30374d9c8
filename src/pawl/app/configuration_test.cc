#include "pawl/app/configuration.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

using Variables = std::map<std::string, std::string>;

EnvironmentReader reader(const Variables& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("the data directory is taken from the first that names it") {
  const TempDirectory directory;
  const std::string config = directory / "config.yaml";
  write(config, "data: /from/file\n");
  SettingFlags flags;
  flags.config = config;
  flags.data = "/from/flag";
  Variables variables = {{"PAWL_DATA", "/from/environment"}, {"XDG_DATA_HOME", "/xdg"}};

  CHECK(resolve_settings(flags, reader(variables))->data == "/from/flag");
  flags.data.clear();
  CHECK(resolve_settings(flags, reader(variables))->data == "/from/environment");
  variables.erase("PAWL_DATA");
  CHECK(resolve_settings(flags, reader(variables))->data == "/from/file");
}

TEST_CASE("paths in the file start at the file, or at home, wherever one stands") {
  const TempDirectory directory;
  const std::string config = directory / "config.yaml";
  SettingFlags flags;
  flags.config = config;

  write(config, "data: runs\nlog_file: ../pawl.log\n");
  const auto near = resolve_settings(flags, reader({{"HOME", "/ann"}}));
  REQUIRE(near);
  CHECK(near->data == directory / "runs");
  CHECK(near->log_file == directory / "../pawl.log");

  write(config, "data: ~/runs\nlog_file: ~/pawl.log\n");
  const auto home = resolve_settings(flags, reader({{"HOME", "/ann"}}));
  REQUIRE(home);
  CHECK(home->data == "/ann/runs");
  CHECK(home->log_file == "/ann/pawl.log");
}

TEST_CASE("without any word on it, data lies where the platform puts it") {
  CHECK(resolve_settings({}, reader({{"XDG_DATA_HOME", "/xdg"}, {"HOME", "/nowhere"}}))->data ==
        "/xdg/pawl");
  CHECK(resolve_settings({}, reader({{"HOME", "/nowhere"}}))->data == "/nowhere/.local/share/pawl");
  // The conventions say that a relative path there is to be ignored.
  CHECK(resolve_settings({}, reader({{"XDG_DATA_HOME", "xdg"}, {"HOME", "/nowhere"}}))->data ==
        "/nowhere/.local/share/pawl");
  const auto lost = resolve_settings({}, reader({}));
  REQUIRE_FALSE(lost);
  CHECK(lost.error().message.find("--data") != std::string::npos);
}

TEST_CASE("the configuration file is found by flag, environment and convention") {
  const TempDirectory directory;
  std::filesystem::create_directory(directory / "pawl");
  write(directory / "pawl/config.yaml", "data: /by/convention\n");
  write(directory / "other.yaml", "data: /by/name\n");
  Variables variables = {{"XDG_CONFIG_HOME", directory.path()}};

  CHECK(resolve_settings({}, reader(variables))->data == "/by/convention");
  variables["PAWL_CONFIG"] = directory / "other.yaml";
  CHECK(resolve_settings({}, reader(variables))->data == "/by/name");
  SettingFlags flags;
  flags.config = directory / "not-there.yaml";
  CHECK_FALSE(resolve_settings(flags, reader(variables)));
}

TEST_CASE("every key of the file is read, and flags and environment go before it") {
  const TempDirectory directory;
  const std::string config = directory / "config.yaml";
  write(config, "data: /d\nlog_level: debug\nlog_file: /f\ncolor: always\n");
  SettingFlags flags;
  flags.config = config;

  const auto settings = resolve_settings(flags, reader({}));
  REQUIRE(settings);
  CHECK(settings->log_level == LogLevel::debug);
  CHECK(settings->log_file == "/f");
  CHECK(settings->color == Color::always);

  flags.log_level = "error";
  const auto changed = resolve_settings(
      flags, reader({{"PAWL_LOG_LEVEL", "info"}, {"PAWL_LOG_FILE", "/g"}, {"NO_COLOR", "1"}}));
  REQUIRE(changed);
  CHECK(changed->log_level == LogLevel::error);
  CHECK(changed->log_file == "/g");
  CHECK(changed->color == Color::never);
}

TEST_CASE("faults of the file are listed with their lines") {
  const TempDirectory directory;
  const std::string config = directory / "config.yaml";
  write(config, "data: [1]\nlog_level: loud\ncolour: never\n");
  SettingFlags flags;
  flags.config = config;

  const auto settings = resolve_settings(flags, reader({}));

  REQUIRE_FALSE(settings);
  for (const char* place : {"config.yaml:1:", "config.yaml:2:", "config.yaml:3:", "colour"}) {
    CHECK(settings.error().message.find(place) != std::string::npos);
  }
}

TEST_CASE("a file of comments is an empty configuration") {
  CHECK(read_configuration("# nothing\n").faults.empty());
  CHECK(read_configuration("").faults.empty());
}

TEST_CASE("the policies are those of the file and of the flag, and their scripts are beside them") {
  const TempDirectory directory;
  const std::string config = directory / "config.yaml";
  const std::string policy = directory / "policy.yaml";
  write(config, "policy: { guardrails: [{ id: a, tool: x, script: ./a.sh }] }\n");
  write(policy, "deny: [bash]\n");
  SettingFlags flags;
  flags.config = config;
  flags.data = "/data";
  flags.policy = policy;
  const auto settings = resolve_settings(flags, reader({}));
  REQUIRE(settings);

  const auto policies = load_policies(*settings);

  REQUIRE(policies);
  REQUIRE(policies->size() == 2);
  CHECK((*policies)[0].file == config);
  CHECK((*policies)[0].limits.guardrails.front().script == directory / "a.sh");
  CHECK((*policies)[1].limits.listed.front().id == "policy.deny.1");

  // The second is within the first, and cannot loosen it.
  write(policy, "guardrails: [{ id: a, enabled: false }]\n");
  CHECK(load_policies(*settings).error().message.find("can only tighten") != std::string::npos);
  write(policy, "- x\n");
  CHECK_FALSE(load_policies(*settings));
  std::filesystem::remove(policy);
  CHECK_FALSE(load_policies(*settings));
}

TEST_CASE("a log level that is none is refused, wherever it stands") {
  SettingFlags flags;
  flags.log_level = "loud";
  const Variables home = {{"HOME", "/nowhere"}};
  CHECK_FALSE(resolve_settings(flags, reader(home)));
  CHECK_FALSE(resolve_settings({}, reader({{"HOME", "/nowhere"}, {"PAWL_LOG_LEVEL", "x"}})));
}

TEST_CASE("models, providers and their defaults are read") {
  const ConfigurationReading reading = read_configuration(
      "models: { small: ollama/qwen3, pair: [a/x, b/y] }\n"
      "aliases: { planning: { provider: a, model: x, effort: high } }\n"
      "tiers: { coder: [planning, b/y] }\n"
      "default_model: coder,a/x\n"
      "default_provider: a\n"
      "system_header: Be kind.\n"
      "catalogue: facts.json\n"
      "providers: { a: { base_url: 'http://127.0.0.1:1', dialect: openai_chat } }\n");

  REQUIRE_MESSAGE(reading.faults.empty(), to_string(reading.faults, "f"));
  const ModelConfiguration& models = reading.file.models;
  CHECK(models.names.aliases.size() == 2);
  CHECK(models.names.tiers.size() == 2);
  CHECK(models.names.aliases.at("planning").effort == ReasoningEffort::high);
  CHECK(models.default_model == "coder,a/x");
  CHECK(models.default_provider == "a");
  CHECK(models.system_header == "Be kind.");
  CHECK(models.catalogue == "facts.json");
  CHECK(models.providers.size() == 1);
}

TEST_CASE("faults of the model keys are listed with their lines") {
  const auto faults_of = [](const std::string& text) {
    return to_string(read_configuration(text).faults, "f");
  };
  CHECK(faults_of("default_model: 'a,,b'\n") ==
        "f:1:16: configuration: \"a,,b\" cannot be the default_model\n");
  CHECK(faults_of("default_provider: A/b\n") ==
        "f:1:19: configuration: \"A/b\" cannot be the default_provider\n");
  CHECK(faults_of("tiers: { coder: a/x }\n").starts_with("f:1:17: tiers: \"coder\" must be"));
  CHECK(faults_of("aliases: { coder: [a/x] }\n").starts_with("f:1:19: aliases: "));
  const std::string secret = faults_of("providers: { openai: { key: sk-not-here } }\n");
  CHECK(secret.starts_with("f:1:29: providers.openai: "));
  CHECK(secret.find("sk-not-here") == std::string::npos);
}

}  // namespace pawl
