#include "pawl/adapter/backend/session/level_check.h"

#include "pawl/adapter/backend/sandbox/host_identity.h"
#include "pawl/adapter/backend/sandbox/protected_places.h"
#include "pawl/adapter/backend/session/name_watch.h"

namespace pawl::backend {

Status check_level(const ExecutionContext& context, IsolationLevel level, HasProxy proxy) {
  const bool limited = context.network.access == NetworkAccess::limited;
  if (limited && (level != IsolationLevel::namespaces || proxy == HasProxy::no)) {
    return Error{ErrorCode::unavailable,
                 "a network of listed hosts needs the backend `namespace` and a proxy (use it, or "
                 "network: none or full)"};
  }
  if (level == IsolationLevel::none && context.network.access != NetworkAccess::full) {
    return Error{ErrorCode::unavailable,
                 "`local` has the host's network and cannot keep a tool from it (write network: "
                 "full, or use `namespace`)"};
  }
  PAWL_TRY(const sandbox::SandboxPlan plan, sandbox::make_sandbox_plan(context, level));
  if (level == IsolationLevel::namespaces || level == IsolationLevel::container) {
    sandbox::ProtectedPlaces places;
    PAWL_CHECK(places.find(plan));
  }
  if (level != IsolationLevel::landlock) return ok();
  PAWL_CHECK(sandbox::check_owner(plan, sandbox::choose_identity(plan)));
  PAWL_TRY(const NameWatch watch, NameWatch::open(plan, context.protection));
  return ok();
}

}  // namespace pawl::backend
