// What the journal keeps of an invocation's context, and the context that is made of it again.
#pragma once

#include <memory>

#include "pawl/agent.h"
#include "pawl/kernel/events.h"
#include "pawl/store.h"

namespace pawl {

inline constexpr std::size_t kInvocationTextBytesMax = 1'024;  // of tenant, identity and the like
inline constexpr std::size_t kServiceNameBytesMax = 256;

// Fills in all of `event` that comes from the context, but for contents: limits and history.
void record_invocation(const InvocationContext& context, RunStarted& event);
// invalid_argument: a text that is too long, or holds control characters.
Status check_invocation(const RunStarted& event);

// The context that a run was started with. `lent` are the services that this process lent to it;
// null: it was started by another one, and they are looked up in the registry. `contents_of` is the
// run whose blobs hold the history. not_found: the registry lacks a service, which is named.
Result<std::shared_ptr<const InvocationContext>> recorded_invocation(
    const RunStarted& started, const RunId& contents_of, JournalReader& reader,
    const InvocationServices* lent, const ServiceRegistry& registry);

}  // namespace pawl
