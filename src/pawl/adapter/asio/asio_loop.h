// The loop on Asio: its own io_context, run by whoever calls run(), or a host's.
#pragma once

#include <functional>
#include <memory>

#include "pawl/port/main_loop.h"

namespace boost::asio {
class io_context;
}

namespace pawl {

class AsioLoop : public MainLoop {
 public:
  AsioLoop();                                        // owns an io_context
  explicit AsioLoop(boost::asio::io_context& host);  // the host runs it, on one thread
  ~AsioLoop() override;

  void post(std::function<void()> work) override;
  std::unique_ptr<Timer> after(std::int64_t delay_ms, std::function<void()> due) override;
  std::unique_ptr<Watch> watch(int fd, Interest interest,
                               std::function<void(Interest)> ready) override;
  std::int64_t wall_ms() const override;
  std::int64_t monotonic_ms() const override;

  boost::asio::io_context& context() { return *context_; }
  // Of the own io_context only: that of a host runs by itself.
  void run_until(const std::function<bool()>& finished) override;
  std::unique_ptr<Signals> on_signals(std::vector<int> signals,
                                      std::function<void(int)> got) override;

 private:
  std::unique_ptr<boost::asio::io_context> owned_;
  boost::asio::io_context* context_;
};

}  // namespace pawl
