#include "pawl/service/model_doctor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace pawl {
namespace {

using Grade = Finding::Grade;
using Support = ExecutorModelDescriptor::Support;
using Wanted = ProviderSetup::Wanted;
using NamesByLiteral = std::map<std::string, std::vector<std::string>>;

std::vector<std::string> capabilities_of(const ExecutorModelDescriptor& model) {
  std::vector<std::string> words;
  if (model.thinking == Support::yes) words.emplace_back("thinking");
  if (model.images == Support::yes) words.emplace_back("images");
  if (model.structured_output == Support::yes) words.emplace_back("schema");
  if (model.temperature == Support::yes) words.emplace_back("temperature");
  return words;
}

ModelRow row_of(const std::string& id, const ExecutorModelDescriptor& model,
                const std::string& missing) {
  ModelRow row;
  row.id = id;
  row.context_tokens = model.context_tokens;
  row.output_tokens = model.max_output_tokens;
  row.prices = model.prices;
  row.capabilities = capabilities_of(model);
  row.missing = missing;
  return row;
}

// Which names lead to which targets; `broken` gets a line for each name that leads nowhere.
NamesByLiteral names_by_literal(const ModelNames& names, std::vector<std::string>& broken) {
  NamesByLiteral found;
  NameScope scope;
  scope.sources = {lookup_in(names)};
  for (const auto* group : {&names.aliases, &names.tiers}) {
    for (const auto& [name, chain] : *group) {
      const auto targets = expand_chain(name, scope);
      if (!targets) {
        broken.push_back(name + ": " + targets.error().message);
        continue;
      }
      for (const ChainTarget& target : *targets) found[target.literal].push_back(name);
    }
  }
  return found;
}

bool has_model(const ProviderConfig& config, std::string_view model) {
  const auto listed = [model](const ExecutorModelDescriptor& one) { return one.id == model; };
  const auto taken = [model](const std::string& prefix) { return model.starts_with(prefix); };
  return std::any_of(config.models.begin(), config.models.end(), listed) ||
         std::any_of(config.model_prefixes.begin(), config.model_prefixes.end(), taken);
}

// What is missing before a target can be asked; nullopt: nobody has it.
std::optional<std::string> missing_for(const std::vector<ProviderSetup>& providers,
                                       const std::string& literal) {
  const auto split = split_literal(literal);
  if (!split || split->provider == kScriptedModel) return "";  // of the program's own
  for (const ProviderSetup& setup : providers) {
    if (setup.config.name == split->provider && has_model(setup.config, split->model)) {
      return setup.missing;
    }
  }
  return std::nullopt;
}

// Over plain HTTP to another machine anybody on the way reads the key.
bool sends_key_in_clear(const ProviderConfig& config) {
  const bool local = config.base_url.starts_with("http://127.") ||
                     config.base_url.starts_with("http://localhost") ||
                     config.base_url.starts_with("http://[::1]");
  return config.key && config.base_url.starts_with("http://") && !local;
}

std::string about(const ProviderSetup& setup) {
  return "provider " + setup.config.name;
}

Finding finding_of(const ProviderSetup& setup, const ModelPool& pool) {
  const ProviderConfig& config = setup.config;
  std::string text = config.base_url + ", " +
                     (config.key ? "key from " + config.key->origin() : std::string("no key"));
  if (!setup.missing.empty()) return {Grade::warning, about(setup), text, setup.missing};
  if (const ModelPool::Entry* entry = pool.find(config.name)) {
    const ExecutorHealth health = entry->provider.executor->health();
    if (!health.status) return {Grade::warning, about(setup), text, health.status.error().message};
  }
  if (sends_key_in_clear(config)) {
    return {Grade::warning, about(setup), text, "the key is sent without encryption: use https"};
  }
  return {Grade::ok, about(setup), text, ""};
}

Finding others(const std::vector<ProviderSetup>& providers) {
  std::string text;
  bool any = false;
  for (const ProviderSetup& setup : providers) {
    any = any || setup.wanted == Wanted::yes;
    if (setup.wanted == Wanted::yes || setup.missing.empty()) continue;
    text += (text.empty() ? "" : ", ") + setup.config.name + " (" + setup.missing + ")";
  }
  Finding finding{Grade::ok, "other providers", "not configured: " + text, ""};
  if (!any) finding.remedy = "charters without a model run on the script inside pawl";
  return finding;
}

// A probe that is under way, and what came of it.
struct Probe {
  const ProviderSetup* setup;
  std::optional<Status> result = std::nullopt;
  std::unique_ptr<Operation> operation = nullptr;
};

Finding finding_of(const Probe& probe) {
  const std::string& name = probe.setup->config.name;
  if (!probe.result) {
    return {Grade::problem, about(*probe.setup), "did not answer in time",
            "look at its base_url, the network and a proxy"};
  }
  if (*probe.result) return {Grade::ok, about(*probe.setup), "answered, and took the key", ""};
  return {Grade::problem, about(*probe.setup), probe.result->error().message,
          "look at the key and the base_url of " + name};
}

}  // namespace

Result<std::vector<ModelRow>> list_models(ModelLayer& models) {
  PAWL_TRY(const ModelLayer::View view, models.view());
  std::vector<std::string> broken;
  NamesByLiteral names = names_by_literal(view.names, broken);
  std::vector<ModelRow> rows;
  for (const ProviderSetup& setup : view.providers) {
    for (const ExecutorModelDescriptor& model : setup.config.models) {
      const std::string id = setup.config.name + "/" + model.id;
      rows.push_back(row_of(id, model, setup.missing));
      if (auto named = names.extract(id)) rows.back().names = std::move(named.mapped());
    }
  }
  for (auto& [literal, leading] : names) {
    ModelRow& row = rows.emplace_back();
    row.id = literal;
    row.names = std::move(leading);
    row.missing = missing_for(view.providers, literal).value_or("no provider has it");
  }
  return rows;
}

std::vector<Finding> examine_providers(ModelLayer& models) {
  const auto view = models.view();
  if (!view) {
    return {{Grade::problem, "models", view.error().message, "correct what is named there"}};
  }
  std::vector<Finding> findings;
  for (const ProviderSetup& setup : view->providers) {
    if (setup.wanted == Wanted::yes) findings.push_back(finding_of(setup, view->pool));
  }
  findings.push_back(others(view->providers));
  std::vector<std::string> broken;
  for (const auto& [literal, names] : names_by_literal(view->names, broken)) {
    if (missing_for(view->providers, literal)) continue;
    broken.push_back(names.front() + ": nobody has the model " + literal);
  }
  for (const std::string& line : broken) {
    findings.push_back({Grade::warning, "models", line, "correct the name in the configuration"});
  }
  return findings;
}

std::vector<Finding> probe_providers(ModelLayer& models, Loop& loop, const RunLoop& run) {
  const auto view = models.view();
  if (!view) return {};  // examine_providers() has said why
  std::vector<Finding> findings;
  std::vector<std::unique_ptr<Probe>> probes;
  for (const ProviderSetup& setup : view->providers) {
    if (setup.wanted == Wanted::no || !setup.missing.empty()) continue;
    const ModelPool::Entry* entry = view->pool.find(setup.config.name);
    if (entry == nullptr) {
      findings.push_back({Grade::problem, about(setup), "nobody in this program speaks to it", ""});
      continue;
    }
    Probe& probe = *probes.emplace_back(std::make_unique<Probe>(Probe{&setup}));
    probe.operation = entry->provider.executor->test_connection(
        [&probe](Status status) { probe.result = std::move(status); });
  }
  if (probes.empty()) {
    if (!findings.empty()) return findings;
    return {{Grade::ok, "providers", "none is configured: nobody was asked", ""}};
  }
  bool late = false;
  const auto deadline = loop.after(kProbeMaxMs, [&late] { late = true; });
  loop.post([] {});  // whoever answered at once leaves nothing to wait for
  run([&] {
    return late || std::all_of(probes.begin(), probes.end(),
                               [](const auto& probe) { return probe->result.has_value(); });
  });
  for (const auto& probe : probes) findings.push_back(finding_of(*probe));
  return findings;
}

}  // namespace pawl
