// The fake provider as the command line asks for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pawl/port/main_loop.h"
#include "pawl/surface/cli/environment.h"

namespace pawl {

// Serves until SIGINT or SIGTERM, on a thread of its own; `loop` waits for the signal. `secrets`
// never reach a recording.
Result<std::uint64_t> serve_fake(MainLoop& loop, const FakeProviderRequest& request,
                                 const std::vector<std::string>& secrets,
                                 const std::function<void(const std::string& url)>& ready);

}  // namespace pawl
