#include "pawl/models/model_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/models/catalogue.h"

namespace pawl {

namespace {

constexpr std::array<std::string_view, 5> kEfforts = {"minimal", "low", "medium", "high", "max"};
constexpr std::string_view kExample = "anthropic/claude-sonnet-5";

constexpr std::string_view kScriptPrefix = "scripted/";

// One of these stands in a chain. Only the path of a script may have spaces in it.
bool is_item(std::string_view text) {
  const unsigned char first_accepted = text.starts_with(kScriptPrefix) ? 0x20 : 0x21;
  const auto refused = [first_accepted](char c) {
    return static_cast<unsigned char>(c) < first_accepted || c == 0x7F || c == ',';
  };
  return !text.empty() && std::none_of(text.begin(), text.end(), refused);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string> split_chain(std::string_view chain) {
  std::vector<std::string> items;
  for (std::size_t at = 0; at <= chain.size();) {
    const std::size_t comma = std::min(chain.find(',', at), chain.size());
    items.emplace_back(trimmed(chain.substr(at, comma - at)));
    at = comma + 1;
  }
  return items;
}

// --- Reading ------------------------------------------------------------------------------------

std::string wanted_value(NamesAccepted accepted) {
  const std::string tier = "a list of 1 to " + std::to_string(kChainTargetsMax) + " models";
  if (accepted == NamesAccepted::tiers) return tier;
  return accepted == NamesAccepted::aliases ? "a model or a map"
                                            : "a model, " + tier + ", or a map";
}

void refuse_value(MapReader& reader, const Node& value, const std::string& key,
                  NamesAccepted accepted) {
  reader.fault(
      value.mark(),
      quoted(key) + " must be " + wanted_value(accepted) + ", found " + describe_kind(value),
      "for example " + std::string(kExample));
}

NamedChain read_alias(const Node& node, const std::string& where, std::vector<Fault>& faults) {
  NamedChain alias;
  MapReader reader(node, faults, where);
  std::string provider;
  std::string model;
  reader.take_string("provider", provider);
  if (reader.require_string("model", model) && !is_model_chain(model)) {
    reader.fault(node.find("model")->mark(), quoted(model) + " is not a model",
                 "for example " + std::string(kExample));
  }
  if (!provider.empty() && !is_provider_name(provider)) {
    reader.fault(node.find("provider")->mark(), quoted(provider) + " is not a name of a provider");
  }
  if (const auto effort = reader.take_choice("effort", kEfforts)) {
    alias.effort = static_cast<ReasoningEffort>(*effort + 1);  // the first is `unset`
  }
  reader.finish();
  alias.items = {provider.empty() ? model : provider + "/" + model};
  return alias;
}

std::optional<NamedChain> read_tier(const Node& node) {
  NamedChain tier;
  for (const Node& item : node.items()) {
    const auto text = item.as_string();
    if (!text || !is_model_chain(*text)) return std::nullopt;
    tier.items.emplace_back(*text);
  }
  if (tier.items.empty() || tier.items.size() > kChainTargetsMax) return std::nullopt;
  return tier;
}

void read_name(MapReader& reader, const Member& member, NamesAccepted accepted,
               const std::string& where, std::vector<Fault>& faults, ModelNames& names) {
  const Node& value = member.value;
  const bool aliases = accepted != NamesAccepted::tiers;
  const auto text = value.as_string();
  if (aliases && text && is_model_chain(*text)) {
    names.aliases[member.key] = {{std::string(*text)}, ReasoningEffort::unset};
  } else if (aliases && value.kind() == Node::Kind::map) {
    names.aliases[member.key] = read_alias(value, where + "." + member.key, faults);
  } else if (const auto tier = read_tier(value); tier && accepted != NamesAccepted::aliases) {
    names.tiers[member.key] = *tier;
  } else {
    refuse_value(reader, value, member.key, accepted);
  }
}

// --- Expanding ----------------------------------------------------------------------------------

class Expansion {
 public:
  explicit Expansion(const NameScope& scope) : scope_(scope) {}

  Status expand(std::string_view chain, ReasoningEffort effort) {
    if (!is_model_chain(chain)) {
      return Error{ErrorCode::invalid_argument,
                   quoted(chain) + " is not a chain of models; write a/x,b/y"};
    }
    for (const std::string& item : split_chain(chain)) PAWL_CHECK(expand_item(item, effort));
    return ok();
  }
  std::vector<ChainTarget> take() { return std::move(targets_); }

 private:
  Status expand_item(const std::string& item, ReasoningEffort effort) {
    if (++steps_ > kChainStepsMax) {
      return Error{ErrorCode::limit_exceeded, "the names of models lead to more than " +
                                                  std::to_string(kChainStepsMax) + " others"};
    }
    if (item == kExternalModel || item == kScriptedModel) return add(item, effort);
    if (item.find('/') != std::string::npos) return expand_literal(item, effort);
    const std::string by_default =
        scope_.default_provider.empty() ? "" : scope_.default_provider + "/" + item;
    if (!by_default.empty() && scope_.is_listed(by_default)) return add(by_default, effort);
    for (const NameLookup& source : scope_.sources) {
      if (const auto chain = source(item)) return expand_name(item, *chain, effort);
    }
    if (!by_default.empty()) return add(by_default, effort);
    return Error{ErrorCode::not_found,
                 "there is no model " + quoted(item) + suggest(item, scope_.known)};
  }

  Status expand_literal(const std::string& item, ReasoningEffort effort) {
    const std::size_t bytes_max =
        item.starts_with(kScriptPrefix) ? kChainBytesMax : kModelLiteralBytesMax;
    if (split_literal(item) && item.size() <= bytes_max) return add(item, effort);
    return Error{ErrorCode::invalid_argument, quoted(item) + " is not provider/model"};
  }

  Status expand_name(const std::string& name, const NamedChain& chain, ReasoningEffort effort) {
    const bool circle = std::find(path_.begin(), path_.end(), name) != path_.end();
    path_.push_back(name);
    if (circle) {
      return Error{ErrorCode::invalid_argument, "the names of models lead in a circle: " + path()};
    }
    if (path_.size() > kChainDepthMax) {
      return Error{ErrorCode::limit_exceeded, "names of models may stand for each other " +
                                                  std::to_string(kChainDepthMax) +
                                                  " deep: " + path()};
    }
    const ReasoningEffort inner = effort == ReasoningEffort::unset ? chain.effort : effort;
    for (const std::string& item : chain.items) PAWL_CHECK(expand(item, inner));
    path_.pop_back();
    return ok();
  }

  Status add(const std::string& literal, ReasoningEffort effort) {
    const auto is_same = [&literal](const ChainTarget& one) { return one.literal == literal; };
    if (std::any_of(targets_.begin(), targets_.end(), is_same)) return ok();
    if (targets_.size() == kChainTargetsMax) {
      return Error{ErrorCode::limit_exceeded,
                   "a chain may have " + std::to_string(kChainTargetsMax) + " models"};
    }
    targets_.push_back({literal, effort});
    return ok();
  }

  std::string path() const {
    std::string text;
    for (const std::string& name : path_) text += (text.empty() ? "" : " -> ") + name;
    return text;
  }

  const NameScope& scope_;
  std::vector<ChainTarget> targets_;
  std::vector<std::string> path_;
  std::size_t steps_ = 0;
};

}  // namespace

const NamedChain* ModelNames::find(std::string_view name) const {
  if (const auto alias = aliases.find(name); alias != aliases.end()) return &alias->second;
  const auto tier = tiers.find(name);
  return tier == tiers.end() ? nullptr : &tier->second;
}

bool is_model_name(std::string_view text) {
  const auto accepted = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= kModelNameBytesMax &&
         std::all_of(text.begin(), text.end(), accepted);
}

bool is_model_chain(std::string_view text) {
  if (text.size() > kChainBytesMax) return false;
  const std::vector<std::string> items = split_chain(text);
  return std::all_of(items.begin(), items.end(), is_item);
}

void read_model_names(const Node& node, NamesAccepted accepted, const std::string& where,
                      std::vector<Fault>& faults, ModelNames& names) {
  MapReader reader(node, faults, where);
  if (node.members().size() > kModelNamesMax) {
    return reader.fault(node.mark(), "there may be " + std::to_string(kModelNamesMax) + " models");
  }
  for (const Member& member : node.members()) {
    if (!is_model_name(member.key)) {
      reader.fault(
          member.key_mark, quoted(member.key) + " is not a name of a model",
          "letters, digits, '_', '-' and '.', at most " + std::to_string(kModelNameBytesMax));
    } else if (member.key == kExternalModel || member.key == kScriptedModel) {
      reader.fault(member.key_mark, quoted(member.key) + " is a model already, and no name");
    } else {
      read_name(reader, member, accepted, where, faults, names);
    }
  }
}

std::string tier_variable(std::string_view name) {
  std::string variable = "PAWL_TIER_";
  for (const char c : name) {
    const bool is_lower = c >= 'a' && c <= 'z';
    variable += is_lower ? static_cast<char>(c - 'a' + 'A') : c == '-' || c == '.' ? '_' : c;
  }
  return variable;
}

NameLookup lookup_in(ModelNames names) {
  return [names = std::move(names)](std::string_view name) -> std::optional<NamedChain> {
    const NamedChain* chain = names.find(name);
    return chain == nullptr ? std::nullopt : std::optional(*chain);
  };
}

std::string suggest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kShownMax = 3;
  std::vector<std::string> shown;
  // An id without its provider is the most common slip.
  for (const std::string& one : known) {
    const auto literal = split_literal(one);
    if (literal && literal->model == word && shown.size() < kShownMax) shown.push_back(one);
  }
  std::vector<std::string> left = shown.empty() ? known : std::vector<std::string>{};
  while (shown.size() < kShownMax) {
    const std::string close(nearest(word, left));
    if (close.empty()) break;
    shown.push_back(close);
    std::erase(left, close);
  }
  std::string text;
  for (const std::string& one : shown) text += (text.empty() ? "; did you mean " : " or ") + one;
  return text.empty() ? text : text + "?";
}

Result<std::vector<ChainTarget>> expand_chain(std::string_view chain, const NameScope& scope) {
  Expansion expansion(scope);
  PAWL_CHECK(expansion.expand(chain, ReasoningEffort::unset));
  return expansion.take();
}

}  // namespace pawl
