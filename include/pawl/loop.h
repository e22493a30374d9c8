// The one thread that owns all live runs, and its clocks. The simulator brings its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace pawl {

// Something under way outside. Destroying it cancels silently: its callback is never called after.
class Operation {
 public:
  virtual ~Operation() = default;
  // Asks it to end soon (within a second). The callback is still called, once.
  virtual void abort() = 0;
};

class Timer {
 public:
  virtual ~Timer() = default;  // cancels
};

class Loop {
 public:
  virtual ~Loop() = default;
  // Runs `work` on the loop thread, after what was posted before. May be called from any thread.
  virtual void post(std::function<void()> work) = 0;
  // Calls `due` once on the loop thread, not before `delay_ms` of monotonic time.
  virtual std::unique_ptr<Timer> after(std::int64_t delay_ms, std::function<void()> due) = 0;
  virtual std::int64_t wall_ms() const = 0;       // since the Unix epoch; may jump
  virtual std::int64_t monotonic_ms() const = 0;  // never backwards; origin unspecified
};

// --- A loop that can also wait for file descriptors: what HTTP clients and servers are built on.

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
