// One execute_phase(): a request, its response, and one PhaseDone whatever happens.
#pragma once

#include <memory>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/provider_executor.h"

namespace pawl::provider {

// What the phases of an executor share; it lives as long as any of them.
struct PhaseServices {
  ProviderConfig config;
  std::shared_ptr<const Dialect> dialect;
  Loop& loop;
  std::shared_ptr<HttpClient> http;
};

// `options` has the facts of the model that is asked for.
std::unique_ptr<Operation> start_phase(std::shared_ptr<const PhaseServices> services,
                                       const PhaseExecutionRequest& request,
                                       const WireOptions& options, PhaseEventSink sink);
// The same for a phase that fails without a request.
std::unique_ptr<Operation> fail_phase(std::shared_ptr<const PhaseServices> services,
                                      PhaseFailed failed, PhaseEventSink sink);

}  // namespace pawl::provider
