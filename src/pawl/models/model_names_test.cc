#include "pawl/models/model_names.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl {
namespace {

struct NamesReading {
  ModelNames names;
  std::string faults;
};

NamesReading read(std::string_view text, NamesAccepted accepted = NamesAccepted::both) {
  const DocumentResult document = parse_yaml(text);
  REQUIRE_MESSAGE(document.root, to_string(document.faults, "f"));
  NamesReading reading;
  std::vector<Fault> faults;
  read_model_names(*document.root, accepted, "models", faults, reading.names);
  reading.faults = to_string(faults, "f");
  return reading;
}

ModelNames names(std::string_view text) {
  NamesReading reading = read(text);
  REQUIRE(reading.faults.empty());
  return reading.names;
}

NameScope scope_of(std::string_view text) {
  NameScope scope;
  scope.sources = {lookup_in(names(text))};
  return scope;
}

// The literals, with "!effort" behind those that have one; or the message of the error.
std::string expanded(std::string_view chain, const NameScope& scope) {
  const auto targets = expand_chain(chain, scope);
  if (!targets) return targets.error().message;
  std::string text;
  for (const ChainTarget& target : *targets) {
    text += (text.empty() ? "" : " ") + target.literal;
    if (target.effort != ReasoningEffort::unset) text += "!" + std::string(name(target.effort));
  }
  return text;
}

TEST_CASE("a chain stands for its targets in order, each once") {
  const NameScope scope =
      scope_of("{coder: [b/y, 'c/z, d/w'], same: a/x, all: [same, coder, b/y], one: {model: a/x}}");

  CHECK(expanded("a/x,b/y", scope) == "a/x b/y");
  CHECK(expanded("a/x, coder", scope) == "a/x b/y c/z d/w");
  CHECK(expanded("coder,a/x", scope) == "b/y c/z d/w a/x");
  CHECK(expanded("all,one,same", scope) == "a/x b/y c/z d/w");
  CHECK(expanded("scripted/a file.yaml", scope) == "scripted/a file.yaml");
  CHECK(expanded("external", scope) == "external");
}

TEST_CASE("a circle is an error that names the way") {
  const NameScope scope = scope_of("{a: b, b: [x/1, c], c: a, self: self}");

  CHECK(expanded("x/9,a", scope) == "the names of models lead in a circle: a -> b -> c -> a");
  CHECK(expanded("self", scope) == "the names of models lead in a circle: self -> self");
}

TEST_CASE("the same name twice on different ways is no circle") {
  CHECK(expanded("a", scope_of("{a: [b, c], b: d, c: d, d: x/1}")) == "x/1");
}

TEST_CASE("depth, length and work are bounded") {
  std::string deep = "{n0: x/1";
  for (int i = 1; i <= 17; ++i) {
    deep += ", n" + std::to_string(i) + ": n" + std::to_string(i - 1);
  }
  const NameScope chained = scope_of(deep + "}");
  CHECK(expanded("n15", chained) == "x/1");
  CHECK(expanded("n16", chained).starts_with("names of models may stand for each other 16 deep"));

  std::string wide;
  for (int i = 0; i < 33; ++i) wide += (i == 0 ? "x/" : ",x/") + std::to_string(i);
  CHECK(expanded(wide, {}) == "a chain may have 32 models");

  std::string doubling = "{n0: x/1";
  for (int i = 1; i < 16; ++i) {
    const std::string inner = "n" + std::to_string(i - 1);
    doubling += ", n" + std::to_string(i) + ": [" + inner + ", " + inner + "]";
  }
  CHECK(expanded("n15", scope_of(doubling + "}")) ==
        "the names of models lead to more than 1000 others");
  CHECK(expanded(std::string(5'000, 'a'), {}).find("is not a chain") != std::string::npos);
}

TEST_CASE("an effort holds for what it leads to, and the outermost wins") {
  const NameScope scope = scope_of(
      "{planning: {provider: a, model: x, effort: high}, low: {model: b/y, effort: low}, "
      "best: {model: 'low,a/z', effort: max}, both: [planning, b/y]}");

  CHECK(expanded("planning", scope) == "a/x!high");
  CHECK(expanded("best", scope) == "b/y!max a/z!max");
  CHECK(expanded("both", scope) == "a/x!high b/y");
}

TEST_CASE("a literal goes before an alias, an alias before a tier, a source before the next") {
  ModelNames first = read("{coder: a/alias}", NamesAccepted::aliases).names;
  first.tiers = read("{coder: [a/tier], only: [a/only]}", NamesAccepted::tiers).names.tiers;
  NameScope scope;
  scope.sources = {lookup_in(first), lookup_in(names("{coder: b/second, later: b/later}"))};
  scope.default_provider = "p";
  scope.is_listed = [](const std::string& literal) { return literal == "p/coder-1"; };

  CHECK(expanded("coder,only,later", scope) == "a/alias a/only b/later");
  CHECK(expanded("coder-1", scope) == "p/coder-1");
  scope.sources.insert(scope.sources.begin(), lookup_in(names("{coder-1: a/shadow}")));
  CHECK(expanded("coder-1", scope) == "p/coder-1");
  // An id that nobody lists is the default provider's only when it is no name.
  CHECK(expanded("unheard-of", scope) == "p/unheard-of");
}

TEST_CASE("a name that nobody knows is refused with the nearest ones") {
  NameScope scope = scope_of("{coder: a/x}");
  scope.known = {"coder", "cod", "anthropic/claude-opus-5", "other/claude-opus-5"};

  CHECK(expanded("codr", scope) == "there is no model \"codr\"; did you mean coder or cod?");
  CHECK(expanded("claude-opus-5", scope) ==
        "there is no model \"claude-opus-5\"; did you mean anthropic/claude-opus-5 or "
        "other/claude-opus-5?");
  CHECK(expanded("zzzzzzzzzzzzz", scope) == "there is no model \"zzzzzzzzzzzzz\"");
}

TEST_CASE("what is no chain is refused") {
  for (const char* const text : {"", ",", "a/x,", "a/x,,b/y", "a b", "a/x b/y", "a/\x01"}) {
    CAPTURE(text);
    CHECK(expanded(text, {}).find("is not a chain of models") != std::string::npos);
  }
  for (const char* const text : {"/x", "x/", "A/x", "-a/x"}) {
    CAPTURE(text);
    CHECK(expanded(text, {}).find("is not provider/model") != std::string::npos);
  }
}

TEST_CASE("faults of names are listed with their place") {
  CHECK(read("{a b: x/1, c: 1, d: [], e: [1], external: x/1}").faults ==
        "f:1:2: models: \"a b\" is not a name of a model (letters, digits, '_', '-' and '.', at "
        "most 64)\n"
        "f:1:15: models: \"c\" must be a model, a list of 1 to 32 models, or a map, found the "
        "integer 1 (for example anthropic/claude-sonnet-5)\n"
        "f:1:21: models: \"d\" must be a model, a list of 1 to 32 models, or a map, found a list "
        "(for "
        "example anthropic/claude-sonnet-5)\n"
        "f:1:28: models: \"e\" must be a model, a list of 1 to 32 models, or a map, found a list "
        "(for "
        "example anthropic/claude-sonnet-5)\n"
        "f:1:33: models: \"external\" is a model already, and no name\n");
  CHECK(read("a: {effort: huge}").faults ==
        "f:1:4: models.a: \"model\" is missing (add \"model\")\n"
        "f:1:13: models.a: \"effort\" must be one of minimal, low, medium, high, max, found the "
        "string "
        "\"huge\"\n");
  CHECK_FALSE(read("a: {model: x/1, provider: 'A B'}").faults.empty());
  CHECK(read("a: [x/1]", NamesAccepted::aliases)
            .faults.starts_with("f:1:4: models: \"a\" must be a model or a map, found a list"));
  CHECK(read("a: x/1", NamesAccepted::tiers)
            .faults.starts_with("f:1:4: models: \"a\" must be a list of 1 to 32 models, found"));
  std::string many = "{";
  for (int i = 0; i < 65; ++i) many += "m" + std::to_string(i) + ": x/1, ";
  CHECK(read(many + "}").faults == "f:1:1: models: there may be 64 models\n");
}

TEST_CASE("the variable of a tier is its name in capitals") {
  CHECK(tier_variable("coder") == "PAWL_TIER_CODER");
  CHECK(tier_variable("my-tier.2") == "PAWL_TIER_MY_TIER_2");
}

}  // namespace
}  // namespace pawl
