// Reports on models and providers, for `pawl models` and `pawl doctor`.
#pragma once

#include <functional>
#include <vector>

#include "pawl/assembly/model_layer.h"
#include "pawl/models/model_row.h"
#include "pawl/port/finding.h"

namespace pawl {

inline constexpr std::int64_t kProbeMaxMs = 30'000;

// Every model that a provider lists, then those that only a name leads to. Asks nobody.
Result<std::vector<ModelRow>> list_models(ModelLayer& models);

// What is configured, what is missing, with the remedy. Asks nobody.
std::vector<Finding> examine_providers(ModelLayer& models);

// Makes one request to each provider that somebody configured, and says who took the key. `run`
// lets the loop go round until its argument says true.
using RunLoop = std::function<void(const std::function<bool()>&)>;
std::vector<Finding> probe_providers(ModelLayer& models, Loop& loop, const RunLoop& run);

}  // namespace pawl
