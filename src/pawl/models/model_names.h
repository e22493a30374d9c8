// Names for models, and the grammar of chains: "a/x,b/y,tier" stands for an ordered list of
// targets.
//
//   chain  = item { "," item }
//   item   = literal | name
//   literal = provider "/" model, or one of the reserved words "external" and "scripted"
//
// A name is looked for in one source after the other: the charter, the configuration, the
// environment, the defaults. In a source an alias goes before a tier of the same name, and a
// literal before both: a bare id that the default provider lists is one. Pure: no I/O.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/result.h"
#include "pawl/words.h"

namespace pawl {

inline constexpr std::size_t kModelNamesMax = 64;  // in one source
inline constexpr std::size_t kModelNameBytesMax = 64;
inline constexpr std::size_t kChainBytesMax = 4096;
inline constexpr std::size_t kChainDepthMax = 16;    // names inside names
inline constexpr std::size_t kChainTargetsMax = 32;  // that a chain may stand for
inline constexpr std::size_t kChainStepsMax = 1000;  // items looked at on the way

inline constexpr std::string_view kExternalModel = "external";  // the host takes every turn
inline constexpr std::string_view kScriptedModel = "scripted";  // the script inside the program

// What a name stands for: an alias has one item, which may be a chain; a tier a list.
struct NamedChain {
  std::vector<std::string> items;
  ReasoningEffort effort = ReasoningEffort::unset;

  friend bool operator==(const NamedChain&, const NamedChain&) = default;
};

struct ModelNames {
  std::map<std::string, NamedChain, std::less<>> aliases;
  std::map<std::string, NamedChain, std::less<>> tiers;

  // The alias, or else the tier.
  const NamedChain* find(std::string_view name) const;
  friend bool operator==(const ModelNames&, const ModelNames&) = default;
};

// Letters, digits, '_', '-' and '.'.
bool is_model_name(std::string_view text);
// Items that are not empty, with commas between them.
bool is_model_chain(std::string_view text);

// A map of names: a string is an alias, `{model, provider, effort}` too, a list is a tier.
enum class NamesAccepted : std::uint8_t { both, aliases, tiers };
void read_model_names(const Node& node, NamesAccepted accepted, const std::string& where,
                      std::vector<Fault>& faults, ModelNames& names);

// PAWL_TIER_CODER is the tier "coder".
std::string tier_variable(std::string_view name);

using NameLookup = std::function<std::optional<NamedChain>(std::string_view name)>;
NameLookup lookup_in(ModelNames names);

struct NameScope {
  std::vector<NameLookup> sources;  // the first that knows a name decides
  std::string default_provider;     // of ids without a slash; may be empty
  std::function<bool(const std::string& literal)> is_listed = [](const std::string&) {
    return false;
  };
  std::vector<std::string> known = {};  // names and literals, to suggest from
};

struct ChainTarget {
  std::string literal;
  ReasoningEffort effort = ReasoningEffort::unset;

  friend bool operator==(const ChainTarget&, const ChainTarget&) = default;
};

// The targets in their order, each once. An effort on the way holds for all that it leads to; the
// outermost wins. invalid_argument: the text, or a circle, with the path; not_found: a name that
// nobody knows, with the nearest ones; limit_exceeded: see above.
Result<std::vector<ChainTarget>> expand_chain(std::string_view chain, const NameScope& scope);

// "; did you mean a/x or b/y?", or empty.
std::string suggest(std::string_view word, const std::vector<std::string>& known);

}  // namespace pawl
