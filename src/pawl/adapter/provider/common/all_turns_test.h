// All turns of a conversation, composed at once: what those that are composed bit by bit must be.
#pragma once

#include <iterator>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/common/kept_turns.h"

namespace pawl::provider {

inline Result<std::vector<Turn>> conversation_of(const PhaseExecutionRequest& request,
                                                 const std::vector<Message>& messages,
                                                 const WireOptions& options) {
  const ComposeRules rules{options.name + "/", first_message(request, options)};
  std::vector<Turn> turns;
  WireCallIds ids;
  for (std::size_t from = 0; from < messages.size();) {
    std::size_t to = from + 1;
    while (to < messages.size() && messages[to].role != Role::assistant) ++to;
    const std::span<const Message> all(messages);
    PAWL_TRY(std::vector<Turn> more,
             turns_of(Stretch{all.subspan(from, to - from), from}, rules, ids));
    join_turns(turns, std::move(more));
    from = to;
  }
  if (messages.empty() || !is_paused(turns, messages.back())) end_with_user(turns, request.note);
  begin_with_user(turns);
  return turns;
}

}  // namespace pawl::provider
