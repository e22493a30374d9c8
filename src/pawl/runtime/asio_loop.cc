#include "pawl/runtime/asio_loop.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "pawl/base/assert.h"

namespace pawl {
namespace {

// Asio may have queued the handler when the timer is destroyed: the flag keeps it from running.
class AsioTimer : public Timer {
 public:
  AsioTimer(boost::asio::io_context& context, std::int64_t delay_ms, std::function<void()> due)
      : timer_(context), wanted_(std::make_shared<bool>(true)) {
    timer_.expires_after(std::chrono::milliseconds(delay_ms));
    timer_.async_wait([due = std::move(due), wanted = wanted_](boost::system::error_code fault) {
      if (!fault && *wanted) due();
    });
  }
  ~AsioTimer() override { *wanted_ = false; }

 private:
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> wanted_;
};

}  // namespace

AsioLoop::AsioLoop()
    : owned_(std::make_unique<boost::asio::io_context>(1)), context_(owned_.get()) {}

AsioLoop::AsioLoop(boost::asio::io_context& host) : context_(&host) {}

AsioLoop::~AsioLoop() = default;

void AsioLoop::post(std::function<void()> work) {
  boost::asio::post(*context_, std::move(work));
}

std::unique_ptr<Timer> AsioLoop::after(std::int64_t delay_ms, std::function<void()> due) {
  return std::make_unique<AsioTimer>(*context_, delay_ms < 0 ? 0 : delay_ms, std::move(due));
}

std::int64_t AsioLoop::wall_ms() const {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

std::int64_t AsioLoop::monotonic_ms() const {
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             steady_clock::now().time_since_epoch())
      .count();
}

void AsioLoop::run_until(const std::function<bool()>& finished) {
  PAWL_ASSERT(owned_ != nullptr);
  const auto guard = boost::asio::make_work_guard(*context_);
  context_->restart();
  while (!finished()) {
    if (context_->run_one() == 0) break;
  }
}

}  // namespace pawl
