#include "pawl/models/provider_declaration.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl {
namespace {

struct ProvidersReading {
  std::vector<ProviderDeclaration> providers;
  std::string faults;
};

ProvidersReading read(std::string_view yaml) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE_MESSAGE(document.root, to_string(document.faults, "f"));
  ProvidersReading reading;
  std::vector<Fault> faults;
  reading.providers = read_providers(*document.root, faults);
  reading.faults = to_string(faults, "f");
  return reading;
}

}  // namespace

TEST_CASE("every key of a provider is read") {
  const ProvidersReading reading = read(
      "local:\n"
      "  dialect: openai_chat\n"
      "  base_url: http://127.0.0.1:8000/\n"
      "  key: env:LOCAL_KEY\n"
      "  headers: { x-team: blue, authorization: file:/run/token }\n"
      "  quirks: [max_tokens]\n"
      "  resume: session\n"
      "  http: 1.1\n"
      "  concurrency: 3\n"
      "  model_concurrency: 2\n"
      "  timeouts: { connect: 2s, first_byte: 1m, idle: 30s, total: 1h, progress: 5m }\n"
      "  model_prefixes: [qwen]\n"
      "  models: { 'qwen3:8b': { context: 32768 }, plain: }\n");

  REQUIRE_MESSAGE(reading.faults.empty(), reading.faults);
  REQUIRE(reading.providers.size() == 1);
  const ProviderDeclaration& local = reading.providers.front();
  CHECK(local.name == "local");
  CHECK(local.dialect == "openai_chat");
  CHECK(local.base_url == "http://127.0.0.1:8000");
  REQUIRE(local.key);
  CHECK(std::get<SecretReference>(*local.key).name == "LOCAL_KEY");
  REQUIRE(local.headers.size() == 2);
  CHECK(std::get<std::string>(local.headers[0].value) == "blue");
  CHECK(std::get<SecretReference>(local.headers[1].value).name == "/run/token");
  CHECK(local.quirks == std::vector<std::string>{"max_tokens"});
  CHECK(local.resume == ProviderDeclaration::Resume::session);
  CHECK(local.http == ProviderDeclaration::Http::one);
  CHECK(local.concurrency == 3);
  CHECK(local.model_concurrency == 2);
  CHECK(local.connect_ms == 2'000);
  CHECK(local.first_byte_ms == 60'000);
  CHECK(local.idle_ms == 30'000);
  CHECK(local.total_ms == 3'600'000);
  CHECK(local.progress_ms == 300'000);
  CHECK(local.model_prefixes == std::vector<std::string>{"qwen"});
  REQUIRE(local.models.size() == 2);
  CHECK(local.models[0].second.context_tokens == 32'768);
  CHECK(local.models[1].first == "plain");
}

TEST_CASE("a provider may want no key") {
  const ProvidersReading reading = read("local: { key: none }");
  REQUIRE(reading.faults.empty());
  CHECK(std::holds_alternative<NoKey>(*reading.providers.front().key));
}

TEST_CASE("faults of providers have their place, and no secret in them") {
  CHECK(read("Local: {}").faults ==
        "f:1:1: providers: \"Local\" is not a name of a provider (lower case letters, digits, '_' "
        "and '-', the first a letter)\n");
  CHECK(read("a: { base_url: ftp://x }").faults ==
        "f:1:16: providers.a: \"base_url\" is not an address of a server (for example "
        "http://127.0.0.1:8000)\n");
  CHECK(read("a: { keey: env:A }").faults.find("\"keey\"") != std::string::npos);
  for (const char* const yaml :
       {"a: { key: sk-hidden }", "a: { headers: { x-api-key: sk-hidden } }",
        "a: { headers: { Authorization: Bearer sk-hidden } }"}) {
    CAPTURE(yaml);
    const std::string faults = read(yaml).faults;
    CHECK_FALSE(faults.empty());
    CHECK(faults.find("hidden") == std::string::npos);
  }
  for (const char* const yaml :
       {"scripted: {}", "a: { dialect: soap }", "a: { resume: both }", "a: { http: 3 }",
        "a: { http: 2, base_url: 'http://h' }", "a: { concurrency: 0 }",
        "a: { timeouts: { total: 0 } }", "a: { headers: { 'a b': x } }",
        "a: { headers: { x-a: \"a\\nb\" } }", "a: { models: { x: { contex: 1 } } }", "a: 1"}) {
    CAPTURE(yaml);
    CHECK_FALSE(read(yaml).faults.empty());
  }
}

TEST_CASE("an address is of a server and nothing else") {
  CHECK(normal_base_url("https://api.example.com/v1//") == "https://api.example.com/v1");
  CHECK(normal_base_url("http://[::1]:80") == "http://[::1]:80");
  for (const char* const text :
       {"", "https://", "https:///x", "http://:80", "https://u:p@host", "https://host?x=1",
        "https://host#x", "https://ho st", "host", "HTTP://host"}) {
    CAPTURE(text);
    CHECK_FALSE(normal_base_url(text));
  }
}

}  // namespace pawl
