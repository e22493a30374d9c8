// From the text of a `model` key to the targets a run pins.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/executor.h"
#include "pawl/loop.h"
#include "pawl/models/model_names.h"

namespace pawl {

// Which targets can be executed here. Asking does no I/O.
class TargetDirectory {
 public:
  virtual ~TargetDirectory() = default;
  virtual bool has_target(std::string_view literal) const = 0;
  // Of every target that is listed: ids are "provider/model".
  virtual std::vector<ExecutorModelDescriptor> listed() const = 0;
  // Of a target that exists, listed or not; its id is the literal.
  virtual ExecutorModelDescriptor facts_of(std::string_view literal) const = 0;
  // What the provider of a target lacks ("set ANTHROPIC_API_KEY"); empty: nothing.
  virtual std::string missing_for(std::string_view literal) const = 0;
};

struct ResolvedTarget {
  std::string literal;   // "anthropic/claude-sonnet-5"
  std::string provider;  // of a reserved word: the word itself
  std::string model;
  ReasoningEffort effort = ReasoningEffort::unset;
  ExecutorModelDescriptor facts;
};

struct Resolution {
  std::vector<ResolvedTarget> targets;  // at least one
  // Targets that were left out because their provider is not configured, with what is missing.
  std::vector<std::string> left_out;
};

// Checks every target. One that nobody executes is an error, with the nearest names; one whose
// provider lacks something is left out, unless nothing remains.
Result<Resolution> resolve_targets(const std::vector<ChainTarget>& chain,
                                   const TargetDirectory& directory);

struct ConfiguredNames {
  ModelNames names;
  std::string default_provider;
};

struct ModelResolverOptions {
  // Reads the configuration. Called again when what it gave is older than `ttl_ms`.
  std::function<Result<ConfiguredNames>()> configuration;
  NameLookup environment = [](std::string_view) { return std::nullopt; };
  ModelNames defaults;  // of the program's own
  // Told when the configuration cannot be read any more: what it said last stays in force.
  std::function<void(const Error&)> stale = [](const Error&) {};
  std::int64_t ttl_ms = 30'000;
};

// Knows the names of everybody but the charter. A changed configuration is used when the time to
// live of the one that was read is over. Used on the loop thread.
class ModelResolver {
 public:
  ModelResolver(ModelResolverOptions options, const Loop& clock)
      : options_(std::move(options)), clock_(clock) {}

  // The targets of `chain` without asking who can execute them.
  Result<std::vector<ChainTarget>> expand(std::string_view chain, const ModelNames& charter,
                                          const TargetDirectory& directory);
  // All names in force but the charter's, the first source that has one deciding.
  Result<ModelNames> names();
  Result<std::string> default_provider();

 private:
  Status refresh();

  ModelResolverOptions options_;
  const Loop& clock_;
  std::optional<ConfiguredNames> configured_;
  std::int64_t read_at_ms_ = 0;
};

// Tiers of the program's own for the providers that are configured: fast, smart, coder. They are
// only ever in memory.
ModelNames default_names(const std::vector<std::string>& providers);

}  // namespace pawl
