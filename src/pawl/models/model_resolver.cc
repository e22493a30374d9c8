#include "pawl/models/model_resolver.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/models/catalogue.h"

namespace pawl {

namespace {

std::vector<std::string> ids_of(const TargetDirectory& directory) {
  std::vector<std::string> ids;
  for (ExecutorModelDescriptor& model : directory.listed()) ids.push_back(std::move(model.id));
  return ids;
}

void add_names(const ModelNames& names, std::vector<std::string>& known) {
  for (const auto& [name, chain] : names.aliases) known.push_back(name);
  for (const auto& [name, chain] : names.tiers) known.push_back(name);
}

ResolvedTarget resolved(const ChainTarget& target, const TargetDirectory& directory) {
  const auto literal = split_literal(target.literal);
  return {target.literal, literal ? literal->provider : target.literal,
          literal ? literal->model : target.literal, target.effort,
          directory.facts_of(target.literal)};
}

// Names of `ours` stay; those of `more` that are new come in.
void add_missing(ModelNames& ours, const ModelNames& more) {
  for (const auto& [name, chain] : more.aliases) {
    if (ours.find(name) == nullptr) ours.aliases[name] = chain;
  }
  for (const auto& [name, chain] : more.tiers) {
    if (ours.find(name) == nullptr) ours.tiers[name] = chain;
  }
}

struct DefaultTier {
  std::string_view provider;
  std::string_view fast;
  std::string_view smart;
  std::string_view coder;
};
constexpr std::array<DefaultTier, 6> kDefaultTiers = {{
    {"anthropic", "claude-haiku-4-5", "claude-opus-5", "claude-sonnet-5"},
    {"openai", "gpt-5.4-mini", "gpt-5.5", "gpt-5.3-codex"},
    {"gemini", "gemini-3.5-flash", "gemini-3.1-pro-preview", "gemini-3.1-pro-preview"},
    {"mistral", "mistral-small-latest", "mistral-large-latest", "devstral-latest"},
    {"deepseek", "deepseek-v4-flash", "deepseek-v4-pro", "deepseek-v4-pro"},
    {"groq", "llama-3.1-8b-instant", "openai/gpt-oss-120b", "openai/gpt-oss-120b"},
}};

}  // namespace

Result<Resolution> resolve_targets(const std::vector<ChainTarget>& chain,
                                   const TargetDirectory& directory) {
  Resolution resolution;
  for (const ChainTarget& target : chain) {
    if (!directory.has_target(target.literal)) {
      return Error{ErrorCode::not_found, "nobody here executes the model " +
                                             quoted(target.literal) +
                                             suggest(target.literal, ids_of(directory))};
    }
    if (const std::string lack = directory.missing_for(target.literal); !lack.empty()) {
      resolution.left_out.push_back(target.literal + ": " + lack);
    } else {
      resolution.targets.push_back(resolved(target, directory));
    }
  }
  if (!resolution.targets.empty()) return resolution;
  std::string text;
  for (const std::string& one : resolution.left_out) text += (text.empty() ? "" : "; ") + one;
  return Error{ErrorCode::unavailable,
               text.empty() ? "no model is named" : "nothing is configured for " + text};
}

Status ModelResolver::refresh() {
  const std::int64_t now_ms = clock_.monotonic_ms();
  if (configured_ && now_ms - read_at_ms_ < options_.ttl_ms) return ok();
  Result<ConfiguredNames> read =
      options_.configuration ? options_.configuration() : ConfiguredNames{};
  read_at_ms_ = now_ms;
  if (read) {
    configured_ = *std::move(read);
    return ok();
  }
  if (!configured_) return std::move(read).error();
  options_.stale(read.error());
  return ok();
}

Result<std::vector<ChainTarget>> ModelResolver::expand(std::string_view chain,
                                                       const ModelNames& charter,
                                                       const TargetDirectory& directory) {
  PAWL_CHECK(refresh());
  NameScope scope;
  scope.sources = {lookup_in(charter), lookup_in(configured_->names), options_.environment,
                   lookup_in(options_.defaults)};
  scope.default_provider = configured_->default_provider;
  scope.known = ids_of(directory);
  scope.is_listed = [&listed = scope.known](const std::string& literal) {
    return std::find(listed.begin(), listed.end(), literal) != listed.end();
  };
  add_names(charter, scope.known);
  add_names(configured_->names, scope.known);
  add_names(options_.defaults, scope.known);
  return expand_chain(chain, scope);
}

Result<ModelNames> ModelResolver::names() {
  PAWL_CHECK(refresh());
  ModelNames all = configured_->names;
  add_missing(all, options_.defaults);
  for (auto* group : {&all.aliases, &all.tiers}) {
    for (auto& [name, chain] : *group) {
      if (configured_->names.find(name) != nullptr) continue;
      if (auto given = options_.environment(name)) chain = *std::move(given);
    }
  }
  return all;
}

Result<std::string> ModelResolver::default_provider() {
  PAWL_CHECK(refresh());
  return configured_->default_provider;
}

ModelNames default_names(const std::vector<std::string>& providers) {
  ModelNames names;
  for (const DefaultTier& tier : kDefaultTiers) {
    if (std::find(providers.begin(), providers.end(), tier.provider) == providers.end()) continue;
    const std::string prefix = std::string(tier.provider) + "/";
    names.tiers["fast"].items.push_back(prefix + std::string(tier.fast));
    names.tiers["smart"].items.push_back(prefix + std::string(tier.smart));
    names.tiers["coder"].items.push_back(prefix + std::string(tier.coder));
  }
  return names;
}

}  // namespace pawl
