#include "pawl/assembly/model_layer.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "pawl/base/files.h"
#include "pawl/models/sampling_check.h"

namespace pawl {
namespace {

constexpr std::string_view kScriptPrefix = "scripted/";
constexpr std::string_view kLocalProvider = "ollama";

bool needs_no_provider(const ChainTarget& target) {
  return target.literal.starts_with(kScriptPrefix) || target.literal == kScriptedModel ||
         target.literal == kExternalModel;
}

// Nothing but scripts, by the charter's own names: no provider has to be looked at.
std::optional<std::vector<ChainTarget>> expand_alone(const std::string& chain,
                                                     const ModelNames& names) {
  NameScope scope;
  scope.sources = {lookup_in(names)};
  auto targets = expand_chain(chain, scope);
  if (!targets || !std::all_of(targets->begin(), targets->end(), needs_no_provider)) {
    return std::nullopt;
  }
  return *std::move(targets);
}

std::string directory_with(const std::string& path) {
  std::error_code ignored;  // Then the path as it was given will do.
  return std::filesystem::absolute(path, ignored).parent_path().string();
}

}  // namespace

std::vector<const std::vector<ChainTarget>*> all_of(const ModelChains& chains) {
  std::vector<const std::vector<ChainTarget>*> all = {&chains.model, &chains.compaction};
  for (const auto& one : chains.nodes) all.push_back(&one);
  return all;
}

struct ModelLayer::Plant {
  Catalogue catalogue;
  std::vector<ProviderSetup> setups;
  std::shared_ptr<ModelPool> pool;
  std::unique_ptr<ModelResolver> resolver;
};

ModelLayer::ModelLayer(Loop& loop, ModelLayerOptions options)
    : loop_(loop), options_(std::move(options)) {}
ModelLayer::~ModelLayer() = default;

Result<ModelConfiguration> ModelLayer::read_configuration() const {
  return options_.configuration ? options_.configuration() : ModelConfiguration{};
}

Status ModelLayer::configure() {
  if (configuration_) return ok();
  PAWL_TRY(configuration_, read_configuration());
  return ok();
}

// The names are read again from time to time; the providers are those of the start.
Result<ConfiguredNames> ModelLayer::read_names() {
  PAWL_TRY(configuration_, read_configuration());
  return ConfiguredNames{configuration_->names, configuration_->default_provider};
}

ProviderSources ModelLayer::sources(const std::string& directory) const {
  return {options_.environment, options_.secrets, directory, options_.check_quirks};
}

Result<Catalogue> ModelLayer::read_catalogue_files() const {
  Catalogue catalogue = builtin_catalogue();
  if (!options_.parse) return catalogue;
  std::string path = configuration_->catalogue;
  if (!path.empty()) {
    path = (std::filesystem::path(directory_with(options_.config)) / path).string();
  } else {
    const auto xdg = options_.environment("XDG_CONFIG_HOME");
    const auto home = options_.environment("HOME");
    if (!xdg && !home) return catalogue;
    path = (xdg ? *xdg : *home + "/.config") + "/pawl/models.json";
    std::error_code ignored;  // Not to be found and not to be looked at are the same here.
    if (!std::filesystem::exists(path, ignored)) return catalogue;
  }
  PAWL_TRY(const std::string text, read_file(path, kCatalogueBytesMax));
  const DocumentResult document = options_.parse(text);
  CatalogueReading reading;
  if (document.root) reading = read_catalogue(*document.root);
  const auto& faults = document.root ? reading.faults : document.faults;
  if (!faults.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "the catalogue of models has faults:\n" + to_string(faults, path)};
  }
  catalogue.merge(reading.catalogue);
  return catalogue;
}

Status ModelLayer::fill(ModelPool& pool, const std::vector<ProviderSetup>& setups) const {
  if (!options_.factory) return ok();
  for (const ProviderSetup& setup : setups) {
    ProviderConfig config = setup.config;
    config.filter = options_.filter;
    config.debug = options_.debug;
    if (options_.debug && options_.filter) {
      config.debug = [debug = options_.debug, filter = options_.filter](const std::string& line) {
        debug(filter->sink(line));
      };
    }
    // A server of one's own sends no bills.
    const bool free = setup.config.name == kLocalProvider;
    PAWL_CHECK(pool.add({setup.config.name, options_.factory(std::move(config)), setup.bounds,
                         setup.missing,
                         free ? PooledProvider::Bills::none : PooledProvider::Bills::by_price}));
  }
  return ok();
}

Result<ModelLayer::Plant*> ModelLayer::plant() {
  if (plant_) return plant_.get();
  PAWL_CHECK(configure());
  auto made = std::make_unique<Plant>();
  PAWL_TRY(made->catalogue, read_catalogue_files());
  PAWL_TRY(made->setups, set_up_providers(configuration_->providers, made->catalogue,
                                          sources(directory_with(options_.config))));
  made->pool = std::make_shared<ModelPool>(loop_, options_.sinks);
  PAWL_CHECK(fill(*made->pool, made->setups));
  std::vector<std::string> configured;
  for (const ProviderSetup& setup : made->setups) {
    if (setup.missing.empty()) configured.push_back(setup.config.name);
  }
  ModelResolverOptions names;
  names.configuration = [this] { return read_names(); };
  names.environment = [this](std::string_view name) -> std::optional<NamedChain> {
    auto chain = options_.environment(tier_variable(name));
    if (!chain) return std::nullopt;
    return NamedChain{{*std::move(chain)}, ReasoningEffort::unset};
  };
  names.defaults = default_names(configured);
  names.stale = [this](const Error& error) { options_.note(error.message); };
  made->resolver = std::make_unique<ModelResolver>(std::move(names), loop_);
  plant_ = std::move(made);
  return plant_.get();
}

Result<std::string> ModelLayer::default_chain(std::string& note) {
  if (!configuration_->default_model.empty()) return configuration_->default_model;
  PAWL_TRY(Plant* const all, plant());
  PAWL_TRY(const ModelNames names, all->resolver->names());
  if (names.find(kDefaultTier) != nullptr) return std::string(kDefaultTier);
  for (const ProviderSetup& setup : all->setups) {
    if (setup.config.name != kLocalProvider || !options_.local_model) continue;
    const auto model = options_.local_model(setup.config.base_url);
    if (!model) continue;
    const std::string literal = std::string(kLocalProvider) + "/" + *model;
    note = "no model is named and no key is set: " + literal + " at " + setup.config.base_url +
           " answers";
    return literal;
  }
  note =
      "no model is named and no provider is configured: the script inside pawl answers; set "
      "ANTHROPIC_API_KEY or another provider's key, start Ollama, or name a model (pawl models "
      "lists them)";
  return std::string(kScriptedModel);
}

Result<ModelChains> ModelLayer::expand(const Charter& charter, const std::string& pinned) {
  PAWL_CHECK(configure());
  ModelChains chains;
  std::string chain = pinned.empty() ? charter.model : pinned;
  if (chain.empty()) {
    PAWL_TRY(chain, default_chain(chains.note));
  }
  const auto expand_one = [&](const std::string& text) -> Result<std::vector<ChainTarget>> {
    if (auto alone = expand_alone(text, charter.models)) return *std::move(alone);
    PAWL_TRY(Plant* const all, plant());
    PAWL_TRY(auto pool, pool_of(charter));
    const RoutingExecutor directory({{pool, all->pool}, {}, "", {}});
    return all->resolver->expand(text, charter.models, directory);
  };
  PAWL_TRY(chains.model, expand_one(chain));
  if (charter.compaction.ratio_percent > 0 && !charter.compaction.model.empty()) {
    PAWL_TRY(chains.compaction, expand_one(charter.compaction.model));
  }
  for (const CharterNode& node : charter.machine.nodes) {
    auto& own = chains.nodes.emplace_back();
    if (node.model.empty()) continue;
    PAWL_TRY(own, expand_one(node.model));
  }
  return chains;
}

// Of the charter's own providers; empty when it has none.
Result<std::shared_ptr<ModelPool>> ModelLayer::pool_of(const Charter& charter) {
  auto pool = std::make_shared<ModelPool>(loop_, options_.sinks);
  if (charter.providers.empty()) return pool;
  PAWL_TRY(Plant* const all, plant());
  PAWL_TRY(const auto setups, set_up_charter_providers(charter.providers, *all->pool,
                                                       all->catalogue, sources(charter.directory)));
  PAWL_CHECK(fill(*pool, setups));
  return pool;
}

std::string ModelLayer::header_for(const Charter& charter) const {
  const std::string& ours = configuration_->system_header;
  if (ours.empty() || charter.system_header.empty()) return ours + charter.system_header;
  return ours + "\n\n" + charter.system_header;
}

Result<ModelChoice> ModelLayer::route(const Charter& charter, const ModelChains& chains,
                                      OwnTargets own) {
  PAWL_CHECK(configure());
  RoutingOptions options;
  PAWL_TRY(auto pool, pool_of(charter));
  options.pools.push_back(std::move(pool));
  for (const auto* chain : all_of(chains)) {
    for (const ChainTarget& target : *chain) {
      if (target.literal == kExternalModel) {
        own.emplace(kExternalModel, std::make_shared<ExternalExecutor>(loop_));
      } else if (!needs_no_provider(target)) {
        PAWL_TRY(Plant* const all, plant());
        if (options.pools.size() == 1) options.pools.push_back(all->pool);
      }
    }
  }
  for (const ChainTarget& target : chains.model) options.chain.push_back(target.literal);
  options.targets = std::move(own);
  options.system_header = header_for(charter);
  auto executor = std::make_shared<RoutingExecutor>(std::move(options));
  ModelChoice choice;
  PAWL_TRY(Resolution resolution, resolve_targets(chains.model, *executor));
  choice.targets = std::move(resolution.targets);
  for (const std::string& one : resolution.left_out) choice.notes.push_back("left out: " + one);
  if (!chains.compaction.empty()) {
    PAWL_TRY(Resolution compaction, resolve_targets(chains.compaction, *executor));
    choice.compaction_targets = std::move(compaction.targets);
  }
  PAWL_CHECK(check_sampling(charter.sampling, choice.targets));
  PAWL_CHECK(route_nodes(charter, chains, *executor, choice));
  for (const auto* targets : {&choice.targets, &choice.compaction_targets}) {
    PAWL_CHECK(check_prices(charter, configuration_->budgets, *targets));
  }
  if (!chains.note.empty()) choice.notes.push_back(chains.note);
  const Budgeting budgeting{options_.ledger,
                            [this]() -> const TenantBudgets& { return configuration_->budgets; },
                            options_.note};
  PAWL_TRY(choice.executor, budgeted(std::move(executor), charter, budgeting, loop_));
  return choice;
}

// The targets of nodes that have models of their own join the run's list, each of them once.
Status ModelLayer::route_nodes(const Charter& charter, const ModelChains& chains,
                               const TargetDirectory& directory, ModelChoice& choice) {
  std::vector<std::uint32_t> of_charter;
  for (std::uint32_t i = 0; i < choice.targets.size(); ++i) of_charter.push_back(i);
  for (std::size_t i = 0; i < chains.nodes.size(); ++i) {
    auto& places = choice.node_targets.emplace_back();
    if (chains.nodes[i].empty()) {
      places = of_charter;
      continue;
    }
    PAWL_TRY(Resolution resolution, resolve_targets(chains.nodes[i], directory));
    for (const std::string& one : resolution.left_out) choice.notes.push_back("left out: " + one);
    PAWL_CHECK(check_sampling(charter.machine.nodes[i].sampling, resolution.targets));
    for (ResolvedTarget& target : resolution.targets) {
      const auto found =
          std::find_if(choice.targets.begin(), choice.targets.end(),
                       [&](const ResolvedTarget& one) { return one.literal == target.literal; });
      places.push_back(static_cast<std::uint32_t>(found - choice.targets.begin()));
      if (found == choice.targets.end()) choice.targets.push_back(std::move(target));
    }
  }
  return ok();
}

Result<ModelLayer::View> ModelLayer::view() {
  PAWL_TRY(Plant* const all, plant());
  PAWL_TRY(ModelNames names, all->resolver->names());
  return View{all->setups, *all->pool, std::move(names)};
}

}  // namespace pawl
