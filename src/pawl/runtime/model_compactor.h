// The compactor that comes with Pawl: one call of a model, without tools.
#pragma once

#include <memory>

#include "pawl/port/compactor.h"

namespace pawl {

// `executor` outlives the operations. `model` is asked instead of the run's own unless it is empty.
std::unique_ptr<Compactor> make_model_compactor(std::shared_ptr<Executor> executor,
                                                std::string model);

}  // namespace pawl
