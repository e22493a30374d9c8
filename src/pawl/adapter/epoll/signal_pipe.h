// Signals as bytes in a pipe, which a loop can watch.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pawl/port/main_loop.h"

namespace pawl::epoll {

// As MainLoop::on_signals. Of several watches of one signal in a process the last one gets it, and
// they are destroyed in reverse order.
std::unique_ptr<MainLoop::Signals> watch_signals(SocketLoop& loop, std::vector<int> signals,
                                                 std::function<void(int)> got);

}  // namespace pawl::epoll
