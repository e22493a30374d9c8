#include "pawl/models/providers/providers.h"

#include <doctest/doctest.h>

#include <map>

#include "pawl/adapter/host/secrets.h"
#include "pawl/adapter/provider/provider_executor.h"
#include "pawl/adapter/yaml/yaml.h"
#include "pawl/models/providers/builtin_providers.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

using Wanted = ProviderSetup::Wanted;

struct Stage {
  ProviderSources sources() const {
    const EnvironmentReader environment =
        [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    return {environment, std::make_shared<HostSecrets>(SecretSources{environment}), "/nowhere",
            check_quirks};
  }
  std::vector<ProviderDeclaration> declared(const std::string& yaml) const {
    const DocumentResult document = parse_yaml(yaml);
    REQUIRE_MESSAGE(document.root, to_string(document.faults, "f"));
    std::vector<Fault> faults;
    auto providers = read_providers(*document.root, faults);
    REQUIRE_MESSAGE(faults.empty(), to_string(faults, "f"));
    return providers;
  }
  Result<std::vector<ProviderSetup>> set_up(const std::string& yaml = "{}") const {
    return set_up_providers(declared(yaml), builtin_catalogue(), sources());
  }
  ProviderSetup provider(const std::string& name, const std::string& yaml = "{}") const {
    const auto setups = set_up(yaml);
    REQUIRE(setups);
    for (const ProviderSetup& setup : *setups) {
      if (setup.config.name == name) return setup;
    }
    FAIL("no provider ", name);
    return {};
  }

  std::map<std::string, std::string> variables;
};

const HttpHeader* header_of(const ProviderSetup& setup, const std::string& name) {
  for (const HttpHeader& header : setup.config.headers) {
    if (header.name == name) return &header;
  }
  return nullptr;
}

// What a request has for it.
std::string secret_header_of(const ProviderSetup& setup, const std::string& name) {
  for (const SecretHeader& header : setup.config.secret_headers) {
    if (header.name == name) return header.prefix + header.value->reveal().value();
  }
  return "";
}

}  // namespace

TEST_CASE("every provider that is known is there, and says what it lacks") {
  const Stage stage;
  const auto setups = stage.set_up();
  REQUIRE(setups);
  std::string text;
  for (const ProviderSetup& setup : *setups) {
    text += setup.config.name + ": " + setup.missing + "\n";
    CHECK(setup.wanted == Wanted::no);
    CHECK(normal_base_url(setup.config.base_url) == setup.config.base_url);
  }
  CHECK(text ==
        "anthropic: set ANTHROPIC_API_KEY\nopenai: set OPENAI_API_KEY\n"
        "gemini: set GEMINI_API_KEY\nollama: \nopenrouter: set OPENROUTER_API_KEY\n"
        "deepseek: set DEEPSEEK_API_KEY\ngroq: set GROQ_API_KEY\nmistral: set MISTRAL_API_KEY\n"
        "xai: set XAI_API_KEY\n");
}

TEST_CASE("keys and addresses come from the usual variables") {
  Stage stage;
  stage.variables = {
      {"ANTHROPIC_API_KEY", "a-key"}, {"ANTHROPIC_BASE_URL", "http://127.0.0.1:9/v1/"},
      {"OPENAI_API_KEY", "o-key"},    {"OPENAI_ORG_ID", "org"},
      {"OPENAI_PROJECT_ID", "proj"},  {"GOOGLE_API_KEY", "g-key"},
      {"OLLAMA_HOST", "0.0.0.0"}};

  const ProviderSetup anthropic = stage.provider("anthropic");
  CHECK(anthropic.missing.empty());
  CHECK(anthropic.wanted == Wanted::yes);
  CHECK(anthropic.config.base_url == "http://127.0.0.1:9");
  CHECK(*anthropic.config.key->reveal() == "a-key");
  CHECK(anthropic.config.dialect == ProviderDialect::anthropic);
  CHECK_FALSE(anthropic.config.models.empty());
  const ProviderSetup openai = stage.provider("openai");
  CHECK(openai.config.dialect == ProviderDialect::openai_responses);
  REQUIRE(header_of(openai, "OpenAI-Organization") != nullptr);
  CHECK(header_of(openai, "OpenAI-Organization")->value == "org");
  CHECK(header_of(openai, "OpenAI-Project")->value == "proj");
  CHECK(*stage.provider("gemini").config.key->reveal() == "g-key");
  const ProviderSetup ollama = stage.provider("ollama");
  CHECK(ollama.config.base_url == "http://127.0.0.1:11434");
  CHECK(ollama.config.key == nullptr);
  CHECK(ollama.wanted == Wanted::yes);

  stage.variables["OPENAI_BASE_URL"] = "not an address";
  CHECK_FALSE(stage.set_up());
}

TEST_CASE("Ollama's variable means what it means to Ollama") {
  const std::map<std::string, std::string> meanings = {
      {"box.lan", "http://box.lan:11434"},
      {"box.lan:8080", "http://box.lan:8080"},
      {"box.lan/ollama", "http://box.lan:11434/ollama"},
      {":8080", "http://127.0.0.1:8080"},
      {"0.0.0.0:8080", "http://127.0.0.1:8080"},
      {"10.0.0.0", "http://10.0.0.0:11434"},
      {"[::1]", "http://[::1]:11434"},
      {"::1", "http://[::1]:11434"},
      {"[::]:8080", "http://[::1]:8080"},
      {"http://0.0.0.0", "http://127.0.0.1"},
      {"https://box.lan", "https://box.lan"},
      {"https://box.lan/ollama", "https://box.lan/ollama"},
      {"https://box.lan:8443/ollama", "https://box.lan:8443/ollama"},
  };
  for (const auto& [text, address] : meanings) {
    Stage stage;
    stage.variables = {{"OLLAMA_HOST", text}};
    CHECK_MESSAGE(stage.provider("ollama").config.base_url == address, text);
  }
}

TEST_CASE("a bearer token of Anthropic's stands in for a key") {
  Stage stage;
  stage.variables = {{"ANTHROPIC_AUTH_TOKEN", "tok"}};
  const ProviderSetup setup = stage.provider("anthropic");
  CHECK(setup.missing.empty());
  CHECK(setup.config.key == nullptr);
  CHECK(secret_header_of(setup, "Authorization") == "Bearer tok");
  CHECK(setup.config.headers.empty());
}

TEST_CASE("a declaration changes what the program knows, and adds what it does not") {
  Stage stage;
  stage.variables = {{"MY_KEY", "mine"}, {"TEAM", "t-secret"}};
  const std::string yaml =
      "openai: { key: env:MY_KEY, dialect: openai_chat, http: 2, concurrency: 3, quirks: "
      "[empty_content],\n"
      "  timeouts: { total: 1m }, models: { my-tuned: { context: 5 } } }\n"
      "vllm: { dialect: openai_chat, base_url: http://box:8000, headers: { X-Team: env:TEAM } }\n";

  const ProviderSetup openai = stage.provider("openai", yaml);
  CHECK(openai.missing.empty());
  CHECK(openai.config.dialect == ProviderDialect::openai_chat);
  CHECK(openai.config.base_url == "https://api.openai.com/v1");
  CHECK(*openai.config.key->reveal() == "mine");
  CHECK(openai.config.http == HttpVersion::two);
  CHECK(openai.bounds.together_max == 3);
  CHECK(openai.bounds.model_together_max == 3);
  CHECK(openai.config.quirks == std::vector<std::string>{"empty_content"});
  CHECK(openai.config.deadlines.http.total_ms == 60'000);
  CHECK(openai.config.deadlines.http.connect_ms == HttpDeadlines{}.connect_ms);
  CHECK(std::any_of(openai.config.models.begin(), openai.config.models.end(),
                    [](const auto& model) { return model.id == "my-tuned"; }));
  const ProviderSetup vllm = stage.provider("vllm", yaml);
  CHECK(vllm.missing.empty());
  CHECK(vllm.config.key == nullptr);
  CHECK(vllm.config.http == HttpVersion::automatic);
  CHECK(vllm.config.model_prefixes == std::vector<std::string>{""});
  CHECK(secret_header_of(vllm, "X-Team") == "t-secret");
  stage.variables["TEAM"] = "changed";
  CHECK(secret_header_of(vllm, "X-Team") == "changed");
}

TEST_CASE("a declaration that lacks something says so") {
  const Stage stage;
  const auto unknown = stage.set_up("vllm: { base_url: http://box:8000 }");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message ==
        "the provider vllm is not known here: it needs a dialect and a base_url");
  CHECK(stage.provider("groq", "groq: { key: env:ABSENT }").missing == "set ABSENT");
  CHECK(stage.provider("groq", "groq: { key: file:absent }").missing.find("/nowhere/absent") == 0);
  CHECK(stage.provider("groq", "groq: { key: none }").missing.empty());
  CHECK(stage.provider("groq", "groq: { key: {command: [pass]} }").missing.empty());
  CHECK(stage.provider("groq", "groq: { key: none, headers: { x-token: env:ABSENT } }").missing ==
        "header x-token: set ABSENT");
}

TEST_CASE("an option that a dialect would not act upon is refused") {
  Stage stage;
  for (const char* const yaml :
       {"openai: { dialect: openai_chat, quirks: [no_such] }", "anthropic: { quirks: [ollama] }",
        "gemini: { resume: session }", "openai: { dialect: openai_chat, resume: session }"}) {
    CAPTURE(yaml);
    CHECK_FALSE(stage.set_up(yaml));
  }
  CHECK(stage.set_up("openai: { resume: session }"));
}

TEST_CASE("a charter cannot take the name of a provider that is there") {
  const Stage stage;
  TestLoop loop;
  const ModelPool pool(loop);
  const auto refused = set_up_charter_providers(stage.declared("openai: { base_url: http://evil }"),
                                                pool, {}, stage.sources());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::conflict);
  const auto taken = set_up_charter_providers(
      stage.declared("mine: { dialect: gemini, base_url: http://box }"), pool, {}, stage.sources());
  REQUIRE(taken);
  CHECK(taken->front().config.dialect == ProviderDialect::gemini);
}

TEST_CASE("the providers that the program knows have distinct names that literals can have") {
  std::map<std::string_view, int> seen;
  for (const BuiltinProvider& builtin : builtin_providers()) {
    CHECK(is_provider_name(builtin.name));
    CHECK(++seen[builtin.name] == 1);
  }
}

}  // namespace pawl
