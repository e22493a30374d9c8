// The turns of a conversation as "messages" of the Messages API.
#pragma once

#include <string>
#include <vector>

#include "pawl/adapter/provider/common/conversation.h"
#include "pawl/json.h"

namespace pawl::provider {

// Makes the turns valid for Anthropic: thinking without a signature goes, and so does a tool of the
// provider's own that has no result (unless the turn is the last one: it was paused). No turn ends
// with thinking.
void fit_anthropic(std::vector<Turn>& turns);

// Whether the request may ask for thinking with a budget: an assistant turn whose tools are being
// answered must then begin with the thinking that led to them.
bool may_budget_thinking(const std::vector<Turn>& turns);

// invalid_argument: an attachment that cannot be sent.
Status write_anthropic_messages(JsonWriter& json, const std::vector<Turn>& turns,
                                std::string_view note, const WireOptions& options);

}  // namespace pawl::provider
