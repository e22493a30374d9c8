// Lays a reply out on the wire, with its delays and with whatever fault it has.
#pragma once

#include "pawl/testing/fake_provider/dialects/model_request.h"
#include "pawl/testing/fake_provider/reply.h"
#include "pawl/testing/fake_provider/server/wire.h"

namespace pawl::fake {

inline constexpr std::uint64_t kSplitBytesMax = 16U << 20U;  // of a body that goes byte by byte

// `reply` gives the delays and the fault.
WirePlan plan_reply(const Rendered& rendered, const FakeReply& reply, const ModelRequest& request);
// Without delays and faults.
WirePlan plan_plainly(const Rendered& rendered);

}  // namespace pawl::fake
