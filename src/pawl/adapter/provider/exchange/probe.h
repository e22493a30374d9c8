// One request that proves that a provider is there and takes the key.
#pragma once

#include <functional>
#include <memory>

#include "pawl/adapter/provider/exchange/phase_operation.h"

namespace pawl::provider {

// `done` is called once, on the loop thread, never from inside the call; not after the operation
// is destroyed.
std::unique_ptr<Operation> start_probe(std::shared_ptr<const PhaseServices> services,
                                       const WireOptions& options,
                                       std::function<void(Status)> done);

}  // namespace pawl::provider
