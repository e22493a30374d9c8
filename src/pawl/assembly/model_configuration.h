// The part of a configuration file that is about models.
#pragma once

#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter_budget.h"
#include "pawl/models/model_names.h"
#include "pawl/models/provider_declaration.h"

namespace pawl {

// What a configuration file says about models.
struct ModelConfiguration {
  ModelNames names;  // of `models`, `aliases` and `tiers`
  std::vector<ProviderDeclaration> providers;
  std::string default_model;     // a chain, for charters without one
  std::string default_provider;  // of ids without a provider
  std::string system_header;
  std::string catalogue;  // the path of a file; relative to the configuration's
  TenantBudgets budgets;
};

// Takes its keys of the file, whose other keys are somebody else's.
void read_model_configuration(MapReader& reader, const Node& root, std::vector<Fault>& faults,
                              ModelConfiguration& out);

}  // namespace pawl
