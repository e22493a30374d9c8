#include "pawl/models/model_resolver.h"

#include <doctest/doctest.h>

#include <set>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/models/catalogue.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

// Lists a/x and b/y, takes anything of c, and lacks a key for b.
class FewTargets final : public TargetDirectory {
 public:
  bool has_target(std::string_view literal) const override {
    return literal == "a/x" || literal == "b/y" || literal.starts_with("c/");
  }
  std::vector<ExecutorModelDescriptor> listed() const override {
    return {facts_of("a/x"), facts_of("b/y")};
  }
  ExecutorModelDescriptor facts_of(std::string_view literal) const override {
    ExecutorModelDescriptor model;
    model.id = literal;
    model.context_tokens = literal == "a/x" ? 1'000 : 0;
    return model;
  }
  std::string missing_for(std::string_view literal) const override {
    return literal.starts_with("b/") ? "set B_KEY" : "";
  }
};

std::string literals(const Result<std::vector<ChainTarget>>& chain) {
  if (!chain) return chain.error().message;
  std::string text;
  for (const ChainTarget& target : *chain) text += (text.empty() ? "" : " ") + target.literal;
  return text;
}

ModelNames tier(const std::string& name, std::vector<std::string> items) {
  ModelNames names;
  names.tiers[name] = {std::move(items), ReasoningEffort::unset};
  return names;
}

}  // namespace

TEST_CASE("targets are resolved with what is known of them") {
  const auto resolved =
      resolve_targets({{"a/x", ReasoningEffort::high}, {"c/any", {}}}, FewTargets());

  REQUIRE(resolved);
  REQUIRE(resolved->targets.size() == 2);
  const ResolvedTarget& first = resolved->targets.front();
  CHECK(first.literal == "a/x");
  CHECK(first.provider == "a");
  CHECK(first.model == "x");
  CHECK(first.effort == ReasoningEffort::high);
  CHECK(first.facts.context_tokens == 1'000);
  CHECK(resolved->targets.back().model == "any");
}

TEST_CASE("a target that nobody executes is refused with the nearest") {
  const auto refused = resolve_targets({{"a/x", {}}, {"a/xx", {}}}, FewTargets());

  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "nobody here executes the model \"a/xx\"; did you mean a/x?");
}

TEST_CASE("a target whose provider lacks its key is left out unless it is the only one") {
  const auto both = resolve_targets({{"b/y", {}}, {"a/x", {}}}, FewTargets());
  REQUIRE(both);
  CHECK(both->targets.size() == 1);
  CHECK(both->left_out == std::vector<std::string>{"b/y: set B_KEY"});

  const auto alone = resolve_targets({{"b/y", {}}}, FewTargets());
  REQUIRE_FALSE(alone);
  CHECK(alone.error().message == "nothing is configured for b/y: set B_KEY");
}

TEST_CASE("names come from the charter, the configuration, the environment, the defaults") {
  const TestLoop loop;
  ModelResolverOptions options;
  options.configuration = [] { return ConfiguredNames{tier("t", {"c/configured"}), "c"}; };
  options.environment = [](std::string_view name) -> std::optional<NamedChain> {
    if (name != "t" && name != "u") return std::nullopt;
    return NamedChain{{"c/environment"}, ReasoningEffort::unset};
  };
  options.defaults = tier("t", {"c/default"});
  options.defaults.tiers["u"] = {{"c/default"}, ReasoningEffort::unset};
  options.defaults.tiers["v"] = {{"c/default"}, ReasoningEffort::unset};
  ModelResolver resolver(options, loop);

  CHECK(literals(resolver.expand("t", tier("t", {"a/charter"}), FewTargets())) == "a/charter");
  CHECK(literals(resolver.expand("t", {}, FewTargets())) == "c/configured");
  CHECK(literals(resolver.expand("u", {}, FewTargets())) == "c/environment");
  CHECK(literals(resolver.expand("v", {}, FewTargets())) == "c/default");
  CHECK(literals(resolver.expand("w", {}, FewTargets())) == "c/w");
  const auto names = resolver.names();
  REQUIRE(names);
  CHECK(names->tiers.at("t").items.front() == "c/configured");
  CHECK(names->tiers.at("u").items.front() == "c/environment");
  CHECK(names->tiers.at("v").items.front() == "c/default");
}

TEST_CASE("a changed configuration is used when the time to live is over, and not before") {
  TestLoop loop;
  int reads = 0;
  std::string target = "a/old";
  ModelResolverOptions options;
  options.configuration = [&reads, &target] {
    ++reads;
    return ConfiguredNames{tier("t", {target}), ""};
  };
  ModelResolver resolver(options, loop);
  CHECK(literals(resolver.expand("t", {}, FewTargets())) == "a/old");
  target = "a/new";

  loop.advance(29'999);
  CHECK(literals(resolver.expand("t", {}, FewTargets())) == "a/old");
  CHECK(reads == 1);
  loop.advance(1);
  CHECK(literals(resolver.expand("t", {}, FewTargets())) == "a/new");
  CHECK(reads == 2);
}

TEST_CASE("a configuration that became unreadable leaves the last one in force, and says so") {
  TestLoop loop;
  bool broken = false;
  std::vector<std::string> said;
  ModelResolverOptions options;
  options.configuration = [&broken]() -> Result<ConfiguredNames> {
    if (broken) return Error{ErrorCode::invalid_argument, "line 3 is wrong"};
    return ConfiguredNames{tier("t", {"a/x"}), ""};
  };
  options.stale = [&said](const Error& error) { said.push_back(error.message); };
  ModelResolver resolver(options, loop);
  CHECK(literals(resolver.expand("t", {}, FewTargets())) == "a/x");

  broken = true;
  loop.advance(30'000);

  CHECK(literals(resolver.expand("t", {}, FewTargets())) == "a/x");
  CHECK(said == std::vector<std::string>{"line 3 is wrong"});
  ModelResolver fresh(options, loop);
  CHECK(literals(fresh.expand("t", {}, FewTargets())) == "line 3 is wrong");
}

TEST_CASE("the default tiers name models of the catalogue, of configured providers only") {
  const DocumentResult document = parse_yaml(builtin_catalogue_text());
  REQUIRE(document.root);
  const Catalogue catalogue = read_catalogue(*document.root).catalogue;
  const ModelNames names =
      default_names({"anthropic", "openai", "gemini", "mistral", "deepseek", "groq", "ollama"});

  for (const char* const name : {"fast", "smart", "coder"}) {
    const NamedChain* chain = names.find(name);
    REQUIRE(chain != nullptr);
    CHECK(chain->items.size() == 6);
    for (const std::string& item : chain->items) {
      CAPTURE(item);
      CHECK(catalogue.find(item));
    }
  }
  CHECK(default_names({"openai"}).tiers.at("fast").items ==
        std::vector<std::string>{"openai/gpt-5.4-mini"});
  CHECK(default_names({}) == ModelNames{});
}

}  // namespace pawl
