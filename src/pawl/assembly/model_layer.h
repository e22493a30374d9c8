// Connects a charter's `model` with executors: names, providers and facts of models, from the
// configuration and the environment.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pawl/assembly/model_budget.h"
#include "pawl/assembly/model_configuration.h"
#include "pawl/charter/charter.h"
#include "pawl/models/model_pool.h"
#include "pawl/models/model_resolver.h"
#include "pawl/models/providers/providers.h"
#include "pawl/models/routing_executor.h"

namespace pawl {

inline constexpr std::size_t kCatalogueBytesMax = 4U << 20U;
// The tier of charters that name no model, when a provider with tiers is configured.
inline constexpr std::string_view kDefaultTier = "coder";

struct ModelLayerOptions {
  std::string config = {};  // the path of the configuration file; empty: there is none
  // What it says by now about models; null: nothing.
  std::function<Result<ModelConfiguration>()> configuration = {};
  DocumentParser parse = {};  // for the catalogue of the user's; null: there is none
  EnvironmentReader environment = [](const std::string&) { return std::nullopt; };
  ExecutorFactory factory = {};  // null: no provider can be used, only listed
  ModelSinks sinks = {};
  std::function<void(const std::string&)> note = [](const std::string&) {};  // for the log
  // Gets requests and responses, a line each, without secrets; null: nobody debugs.
  std::function<void(const std::string&)> debug = {};
  std::shared_ptr<const SecretFinder> secrets = {};  // null: nobody may ask for a provider
  std::function<Status(const ProviderConfig&)> check_quirks = {};  // see ProviderSources
  std::shared_ptr<const ByteFilter> filter = {};  // of what providers say; null: none
  std::shared_ptr<BudgetLedger> ledger = {};      // of tenants; null: none may have a budget
  // A model of a server on this machine that nobody configured, given its address; null: nobody
  // looks.
  std::function<std::optional<std::string>(const std::string& base_url)> local_model = {};
};

// The chains of a charter, without a word on who executes them.
struct ModelChains {
  std::vector<ChainTarget> model;
  std::vector<ChainTarget> compaction;  // empty: the same
  // Of the charter's nodes, in their order; empty: the charter's own.
  std::vector<std::vector<ChainTarget>> nodes = {};
  std::string note;  // something the user should know; may be empty
};

struct ModelChoice {
  std::shared_ptr<Executor> executor;
  std::vector<ResolvedTarget> targets;             // at least one
  std::vector<ResolvedTarget> compaction_targets;  // empty: the same
  // Of the charter's nodes, in their order: places in `targets`, where the node's are others than
  // the whole list.
  std::vector<std::vector<std::uint32_t>> node_targets = {};
  std::vector<std::string> notes;
};

std::vector<const std::vector<ChainTarget>*> all_of(const ModelChains& chains);

using OwnTargets = std::map<std::string, std::shared_ptr<Executor>, std::less<>>;

// Reads the configuration when it is first needed, and the catalogue when a provider is. Used on
// the loop thread; the loop outlives it and what it makes.
class ModelLayer {
 public:
  ModelLayer(Loop& loop, ModelLayerOptions options);
  ~ModelLayer();

  // `pinned` is the model of a run that goes on; empty: the charter's own.
  Result<ModelChains> expand(const Charter& charter, const std::string& pinned);
  // `own` executes the targets that the charter brings with it: its scripts.
  Result<ModelChoice> route(const Charter& charter, const ModelChains& chains, OwnTargets own);

  // For those who look: every provider, and the names in force.
  struct View {
    const std::vector<ProviderSetup>& providers;
    const ModelPool& pool;
    ModelNames names;
  };
  Result<View> view();

 private:
  struct Plant;  // what needs the catalogue
  Result<ModelConfiguration> read_configuration() const;
  Status configure();
  Result<Plant*> plant();
  Result<ConfiguredNames> read_names();
  static Status route_nodes(const Charter& charter, const ModelChains& chains,
                            const TargetDirectory& directory, ModelChoice& choice);
  Result<Catalogue> read_catalogue_files() const;
  Result<std::string> default_chain(std::string& note);
  Result<std::shared_ptr<ModelPool>> pool_of(const Charter& charter);
  Status fill(ModelPool& pool, const std::vector<ProviderSetup>& setups) const;
  ProviderSources sources(const std::string& directory) const;
  std::string header_for(const Charter& charter) const;

  Loop& loop_;
  ModelLayerOptions options_;
  std::optional<ModelConfiguration> configuration_;
  std::unique_ptr<Plant> plant_;
};

}  // namespace pawl
