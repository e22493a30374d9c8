// The loop of a program, run on the thread that owns it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pawl/loop.h"

namespace pawl {

class MainLoop : public SocketLoop {
 public:
  // Runs on this thread until `finished` says so. It is asked after every piece of work.
  virtual void run_until(const std::function<bool()>& finished) = 0;
  class Signals {
   public:
    virtual ~Signals() = default;
  };
  // Calls `got` on the loop thread with the number of each of these signals that the process gets,
  // until the result is destroyed, which is allowed from inside `got`. They then do again what they
  // did before.
  virtual std::unique_ptr<Signals> on_signals(std::vector<int> signals,
                                              std::function<void(int)> got) = 0;
};

}  // namespace pawl
