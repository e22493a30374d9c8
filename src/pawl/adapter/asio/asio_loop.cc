#include "pawl/adapter/asio/asio_loop.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "pawl/result.h"

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

// Shared by the watch and its handlers, which Asio may have queued when the watch is destroyed.
class WatchedDescriptor : public std::enable_shared_from_this<WatchedDescriptor> {
 public:
  WatchedDescriptor(boost::asio::io_context& context, std::function<void(Interest)> ready)
      : descriptor_(context), ready_(std::move(ready)) {}

  void begin(int fd, Interest interest) {
    boost::system::error_code fault;
    descriptor_.assign(fd, fault);
    if (fault) return tell_of_fault(interest);
    want(interest);
  }

  void want(Interest interest) {
    wanted_ = interest;
    if (!descriptor_.is_open()) return;
    if (wants(Interest::read) && !std::exchange(reads_, true)) arm(Interest::read);
    if (wants(Interest::write) && !std::exchange(writes_, true)) arm(Interest::write);
  }

  void end() {
    wanted_ = Interest::none;
    // Gives the descriptor back; Asio would close it.
    if (descriptor_.is_open()) descriptor_.release();
  }

 private:
  // Asio's reactor is edge-triggered, but looks anew at a descriptor for each wait.
  void arm(Interest which) {
    const auto what = which == Interest::read ? boost::asio::posix::descriptor_base::wait_read
                                              : boost::asio::posix::descriptor_base::wait_write;
    descriptor_.async_wait(
        what, [self = shared_from_this(), which](const boost::system::error_code& fault) {
          if (self->wants(which)) self->ready_(which);
          // What cannot be waited for is told once: its owner finds out why by using it.
          bool& waits = which == Interest::read ? self->reads_ : self->writes_;
          waits = self->wants(which) && !fault;
          if (waits) self->arm(which);
        });
  }

  void tell_of_fault(Interest interest) {
    wanted_ = interest;
    boost::asio::post(descriptor_.get_executor(), [self = shared_from_this(), interest] {
      if (self->wanted_ != Interest::none) self->ready_(interest);
    });
  }

  bool wants(Interest which) const { return wanted_ == which || wanted_ == Interest::both; }

  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void(Interest)> ready_;
  Interest wanted_ = Interest::none;
  bool reads_ = false;   // a wait for it is under way
  bool writes_ = false;  // likewise
};

class AsioWatch : public SocketLoop::Watch {
 public:
  explicit AsioWatch(std::shared_ptr<WatchedDescriptor> watched) : watched_(std::move(watched)) {}
  ~AsioWatch() override { watched_->end(); }
  AsioWatch(const AsioWatch&) = delete;
  AsioWatch& operator=(const AsioWatch&) = delete;

  void want(Interest interest) override { watched_->want(interest); }

 private:
  std::shared_ptr<WatchedDescriptor> watched_;
};

// The callbacks that wait hold it: one that is due already may come after the watch has gone.
class WatchedSignals : public std::enable_shared_from_this<WatchedSignals> {
 public:
  WatchedSignals(boost::asio::io_context& context, const std::vector<int>& signals,
                 std::function<void(int)> got)
      : set_(context), got_(std::move(got)) {
    for (const int number : signals) set_.add(number);
  }

  void next() {
    set_.async_wait([self = shared_from_this()](boost::system::error_code fault, int number) {
      if (fault || !self->wanted_) return;
      self->next();
      const auto got = self->got_;  // The watch may go meanwhile.
      got(number);
    });
  }

  void end() {
    wanted_ = false;
    boost::system::error_code ignored;  // What was caught is let go as far as possible.
    set_.clear(ignored);
  }

 private:
  boost::asio::signal_set set_;
  std::function<void(int)> got_;
  bool wanted_ = true;
};

class SignalWatch : public MainLoop::Signals {
 public:
  explicit SignalWatch(std::shared_ptr<WatchedSignals> watched) : watched_(std::move(watched)) {}
  ~SignalWatch() override { watched_->end(); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  std::shared_ptr<WatchedSignals> watched_;
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

std::unique_ptr<SocketLoop::Watch> AsioLoop::watch(int fd, Interest interest,
                                                   std::function<void(Interest)> ready) {
  auto watched = std::make_shared<WatchedDescriptor>(*context_, std::move(ready));
  watched->begin(fd, interest);
  return std::make_unique<AsioWatch>(std::move(watched));
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

std::unique_ptr<MainLoop::Signals> AsioLoop::on_signals(std::vector<int> signals,
                                                        std::function<void(int)> got) {
  auto watched = std::make_shared<WatchedSignals>(*context_, signals, std::move(got));
  watched->next();
  return std::make_unique<SignalWatch>(std::move(watched));
}

}  // namespace pawl
