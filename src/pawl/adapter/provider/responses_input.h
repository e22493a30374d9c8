// The conversation as the items of a request to POST /v1/responses.
#pragma once

#include <vector>

#include "pawl/adapter/provider/conversation.h"
#include "pawl/base/json.h"

namespace pawl::provider {

// Writes the list. invalid_argument: an attachment that the provider or the model does not take.
Status write_responses_input(JsonWriter& out, const std::vector<Turn>& turns,
                             const ExecutorModelDescriptor& model);

}  // namespace pawl::provider
