// The conversation as the messages of a request to POST /v1/chat/completions.
#pragma once

#include <string>
#include <vector>

#include "pawl/adapter/provider/chat_quirks.h"
#include "pawl/adapter/provider/conversation.h"
#include "pawl/base/json.h"

namespace pawl::provider {

// Writes the list, with `instructions` first unless they are empty. invalid_argument: an attachment
// that the provider or the model does not take.
Status write_chat_messages(JsonWriter& out, const std::string& instructions,
                           std::vector<Turn> turns, const ExecutorModelDescriptor& model,
                           const ChatQuirks& quirks);

}  // namespace pawl::provider
