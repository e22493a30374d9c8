// The compactor that comes with Pawl: one call of a model, without tools.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pawl/executor.h"

namespace pawl {

// `executor` outlives the operations. `model` is asked instead of the run's own unless it is empty.
std::unique_ptr<Compactor> make_model_compactor(std::shared_ptr<Executor> executor,
                                                std::string model);

// A summary as it stands in the conversation: Pawl's own note to the model, of which no line can be
// taken for a person's words. A model wrote it, from texts of tools and strangers among others.
std::string framed_summary(std::string_view summary);

}  // namespace pawl
