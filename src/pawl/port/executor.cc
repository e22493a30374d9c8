#include "pawl/port/executor.h"

namespace pawl {

Status check_capabilities(const ExecutorCapabilities& capabilities) {
  if (capabilities.supports_session_resume == capabilities.supports_conversation_replay) {
    return Error{
        ErrorCode::invalid_argument,
        capabilities.supports_session_resume
            ? "an executor declares exactly one resume strategy, and this one declares both "
              "session resume and conversation replay"
            : "an executor declares exactly one resume strategy, and this one declares "
              "neither session resume nor conversation replay"};
  }
  return ok();
}

}  // namespace pawl
