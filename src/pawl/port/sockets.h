// A loop that can also wait for file descriptors: what HTTP clients and servers are built on.
#pragma once

#include <functional>
#include <memory>

#include "pawl/port/loop.h"

namespace pawl {

enum class Interest : std::uint8_t { read, write, both };

class SocketLoop : public Loop {
 public:
  // Calls `ready` on the loop thread each time `fd` is ready, until the watch is destroyed, which
  // is allowed from inside `ready`. The descriptor stays the caller's: destroy the watch before it
  // is closed.
  class Watch {
   public:
    virtual ~Watch() = default;
  };
  virtual std::unique_ptr<Watch> watch(int fd, Interest interest,
                                       std::function<void(bool readable, bool writable)> ready) = 0;
};

}  // namespace pawl
