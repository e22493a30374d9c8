// Tools that are the host's own code: no process is started. A host gives functions for what its
// tools are to do; the file tools work without any.
#pragma once

#include <functional>
#include <memory>

#include "pawl/adapter/backend/session/process_backend.h"
#include "pawl/backend.h"
#include "pawl/loop.h"

namespace pawl::backend {

// Called on the session's thread, one call at a time. `stopped` says whether the call is to end.
using NativeFunction = std::function<BackendOutcome(
    const ExecutionContext& context, const ShellCommand& command, std::function<bool()> stopped)>;

struct NativeFunctions {
  NativeFunction bash = nullptr;  // without it, bash() fails and says so; likewise exec()
  NativeFunction exec = nullptr;
};

std::unique_ptr<Backend> make_native_backend(Loop& loop, BackendOptions options,
                                             NativeFunctions functions = {});

}  // namespace pawl::backend
