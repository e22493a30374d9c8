// The turns of a conversation as "messages" of the Messages API.
#pragma once

#include <string>
#include <vector>

#include "pawl/adapter/provider/common/kept_turns.h"
#include "pawl/json.h"

namespace pawl::provider {

// Makes turns valid for Anthropic: thinking without a signature goes, and so does a tool of the
// provider's own that has no result (unless the turn is the last one: it was paused). No turn ends
// with thinking. Refuses attachments that cannot be sent.
std::unique_ptr<const TurnStyle> make_anthropic_turns(const WireOptions& options);

// Whether the request may ask for thinking with a budget: an assistant turn whose tools are being
// answered must then begin with the thinking that led to them. `turns` are the last ones.
bool may_budget_thinking(const std::vector<Turn>& turns);

// Marks for the provider's cache: what the next request will begin with, too. The note is of this
// one only.
std::vector<Insertion> cache_marks(const std::vector<TurnEnd>& user_turns, const std::string& note);

}  // namespace pawl::provider
