// A loop that can also wait for file descriptors: what HTTP clients and servers are built on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "pawl/port/loop.h"

namespace pawl {

enum class Interest : std::uint8_t { none, read, write, both };

class SocketLoop : public Loop {
 public:
  // Calls `ready` on the loop thread, with what `fd` is ready for, as long as it is, until the
  // watch is destroyed, which is allowed from inside `ready`. The descriptor stays the caller's and
  // becomes a non-blocking one: destroy the watch before it is closed, and make no second one of
  // it.
  class Watch {
   public:
    virtual ~Watch() = default;
    // From now on `ready` is called for this. It costs less than another watch of the descriptor.
    virtual void want(Interest interest) = 0;
  };
  virtual std::unique_ptr<Watch> watch(int fd, Interest interest,
                                       std::function<void(Interest)> ready) = 0;
};

}  // namespace pawl
