#include "pawl/models/model_pool.h"

#include <utility>

#include "pawl/base/document.h"
#include "pawl/models/catalogue.h"
#include "pawl/models/model_names.h"

namespace pawl {

Status ModelPool::add(PooledProvider provider) {
  const std::string& name = provider.name;
  if (!is_provider_name(name) || name == kScriptedModel || name == kExternalModel) {
    return Error{ErrorCode::invalid_argument, quoted(name) + " is not a name of a provider"};
  }
  if (provider.executor == nullptr) {
    return Error{ErrorCode::invalid_argument, "the provider " + name + " has no executor"};
  }
  if (provider.bounds.together_max == 0 || provider.bounds.model_together_max == 0) {
    return Error{ErrorCode::invalid_argument, "the provider " + name + " may make no calls"};
  }
  if (const Status checked = check_capabilities(provider.executor->capabilities()); !checked) {
    return Error{checked.error().code, "the provider " + name + ": " + checked.error().message};
  }
  if (providers_.contains(name)) {
    return Error{ErrorCode::conflict, "there is a provider " + name + " already"};
  }
  if (const auto server = provider.executor->mcp_server()) {
    for (const auto& [other, entry] : providers_) {
      const auto theirs = entry.provider.executor->mcp_server();
      if (!theirs || theirs->name != server->name) continue;
      return Error{ErrorCode::conflict, "the providers " + other + " and " + name +
                                            " both have an MCP server " + server->name};
    }
  }
  if (providers_.size() == kProvidersMax) {
    return Error{ErrorCode::limit_exceeded,
                 "there may be " + std::to_string(kProvidersMax) + " providers"};
  }
  auto gate = std::make_shared<FairGate>(loop_, provider.bounds);
  const std::string key = name;
  providers_.emplace(key, Entry{std::move(provider), std::move(gate)});
  return ok();
}

const ModelPool::Entry* ModelPool::find(std::string_view provider) const {
  const auto found = providers_.find(provider);
  return found == providers_.end() ? nullptr : &found->second;
}

}  // namespace pawl
