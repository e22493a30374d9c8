#include "pawl/adapter/epoll/epoll_loop.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

#include "pawl/adapter/epoll/signal_pipe.h"
#include "pawl/result.h"

namespace pawl {
namespace {

// What was posted is run for so many rounds before descriptors are looked at again.
constexpr int kUnpolledRoundsMax = 8;
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kDelayMaxMs = std::int64_t{1} << 40U;  // 35 years
// Room for work that is kept from round to round.
constexpr std::size_t kBatchKept = 4'096;
constexpr std::uint64_t kWaker = 0;  // the data of its events; others have a number above

std::int64_t now_ns() {
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             steady_clock::now().time_since_epoch())
      .count();
}

void make_non_blocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK) == 0) ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

std::uint32_t events_of(Interest interest) {
  switch (interest) {
    case Interest::none:
      return 0;
    case Interest::read:
      return EPOLLIN;
    case Interest::write:
      return EPOLLOUT;
    case Interest::both:
      return EPOLLIN | EPOLLOUT;
  }
  return 0;
}

}  // namespace

// --- Timers -------------------------------------------------------------------------------------

class EpollLoop::HeapTimer final : public Timer, public epoll::TimerHeap::Member {
 public:
  HeapTimer(epoll::TimerHeap& heap, std::int64_t at, std::uint64_t which, std::function<void()> due)
      : heap_(heap), due_(std::move(due)) {
    at_ns = at;
    number = which;
    heap_.add(*this);
  }
  ~HeapTimer() override { heap_.remove(*this); }
  HeapTimer(const HeapTimer&) = delete;
  HeapTimer& operator=(const HeapTimer&) = delete;

  // It may be destroyed by what it calls.
  void fire() {
    heap_.remove(*this);
    const auto due = std::move(due_);
    due();
  }

 private:
  epoll::TimerHeap& heap_;
  std::function<void()> due_;
};

std::unique_ptr<Timer> EpollLoop::after(std::int64_t delay_ms, std::function<void()> due) {
  const std::int64_t delay_ns = std::clamp(delay_ms, std::int64_t{0}, kDelayMaxMs) * kNsPerMs;
  return std::make_unique<HeapTimer>(timers_, now_ns() + delay_ns, timers_made_++, std::move(due));
}

// --- Descriptors --------------------------------------------------------------------------------

struct EpollLoop::Watched {
  int fd;
  std::uint32_t number;  // of all that were ever watched
  std::function<void(Interest)> ready;
  std::uint32_t wanted = 0;
  std::uint32_t registered = 0;  // with epoll; 0: it is not there
};

class EpollLoop::DescriptorWatch final : public Watch {
 public:
  DescriptorWatch(EpollLoop& loop, std::shared_ptr<Watched> watched)
      : loop_(loop), watched_(std::move(watched)) {}
  ~DescriptorWatch() override {
    watched_->wanted = 0;
    loop_.set_events(*watched_, 0);
    const auto place = static_cast<std::size_t>(watched_->fd);  // -1 is behind all others
    const bool known = place < loop_.watched_.size() && loop_.watched_[place] == watched_;
    if (known) loop_.watched_[place].reset();
  }
  DescriptorWatch(const DescriptorWatch&) = delete;
  DescriptorWatch& operator=(const DescriptorWatch&) = delete;

  // One that is wanted for nothing stays registered for reading until something comes: a kept
  // connection is used again before it closes, mostly.
  void want(Interest interest) override {
    watched_->wanted = events_of(interest);
    const bool rests = watched_->wanted == 0 && watched_->registered == EPOLLIN;
    if (rests) return;
    loop_.set_events(*watched_, watched_->wanted);
    if (watched_->registered != watched_->wanted) loop_.tell_of_fault(watched_, interest);
  }

 private:
  EpollLoop& loop_;
  std::shared_ptr<Watched> watched_;
};

void EpollLoop::set_events(Watched& watched, std::uint32_t events) const {
  if (watched.registered == events) return;
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::uint64_t{watched.number} << 32U | static_cast<std::uint32_t>(watched.fd);
  const int change = events == 0               ? EPOLL_CTL_DEL
                     : watched.registered == 0 ? EPOLL_CTL_ADD
                                               : EPOLL_CTL_MOD;
  watched.registered = ::epoll_ctl(epoll_, change, watched.fd, &event) == 0 ? events : 0;
}

std::unique_ptr<SocketLoop::Watch> EpollLoop::watch(int fd, Interest interest,
                                                    std::function<void(Interest)> ready) {
  auto watched = std::make_shared<Watched>(Watched{fd, ++watches_made_, std::move(ready)});
  watched->wanted = events_of(interest);
  const auto place = static_cast<std::size_t>(fd);
  if (fd >= 0) {
    make_non_blocking(fd);
    if (watched_.size() <= place) watched_.resize(place + 1);
    watched_[place] = watched;
    set_events(*watched, watched->wanted);
  }
  if (watched->registered != watched->wanted) tell_of_fault(watched, interest);
  return std::make_unique<DescriptorWatch>(*this, std::move(watched));
}

// What cannot be waited for is told once: its owner finds out why by using it.
void EpollLoop::tell_of_fault(const std::shared_ptr<Watched>& watched, Interest interest) {
  post([weak = std::weak_ptr<Watched>(watched), interest] {
    const auto still = weak.lock();
    if (still && still->wanted != 0) still->ready(interest);
  });
}

void EpollLoop::tell(Watched& watched, std::uint32_t events) {
  constexpr std::uint32_t kEnded = EPOLLERR | EPOLLHUP;
  const auto wants = [&](std::uint32_t which) {
    return (events & (which | kEnded)) != 0 && (watched.wanted & which) != 0;
  };
  if (!wants(EPOLLIN) && !wants(EPOLLOUT)) return set_events(watched, watched.wanted);
  if (wants(EPOLLIN)) watched.ready(Interest::read);
  if (wants(EPOLLOUT)) watched.ready(Interest::write);
}

std::unique_ptr<MainLoop::Signals> EpollLoop::on_signals(std::vector<int> signals,
                                                         std::function<void(int)> got) {
  return epoll::watch_signals(*this, std::move(signals), std::move(got));
}

// --- Rounds -------------------------------------------------------------------------------------

EpollLoop::EpollLoop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      waker_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      ready_(kReadyMax) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = kWaker;
  PAWL_ASSERT(epoll_ >= 0 && waker_ >= 0);
  PAWL_ASSERT(::epoll_ctl(epoll_, EPOLL_CTL_ADD, waker_, &event) == 0);
}

EpollLoop::~EpollLoop() {
  ::close(waker_);
  ::close(epoll_);
}

void EpollLoop::post(std::function<void()> work) {
  bool sleeps = false;
  {
    const std::scoped_lock lock(mutex_);
    posted_.push_back(std::move(work));
    sleeps = std::exchange(state_, State::awake) == State::asleep;
  }
  const std::uint64_t one = 1;
  if (sleeps) PAWL_ASSERT(::write(waker_, &one, sizeof one) == sizeof one);
}

void EpollLoop::run_until(const std::function<bool()>& finished) {
  while (!finished()) {
    while (!run_posted() && !run_timer() && !run_ready()) look();
  }
}

bool EpollLoop::run_posted() {
  if (batch_at_ == batch_.size()) return false;
  const auto work = std::move(batch_[batch_at_++]);
  work();
  return true;
}

bool EpollLoop::run_timer() {
  auto* const first = timers_.first();
  if (first == nullptr || first->at_ns > round_ns_ || first->number >= round_timers_end_) {
    return false;
  }
  static_cast<HeapTimer*>(first)->fire();
  return true;
}

bool EpollLoop::run_ready() {
  while (ready_at_ < ready_end_) {
    const epoll_event event = ready_[ready_at_++];
    if (event.data.u64 == kWaker) continue;
    const auto place = static_cast<std::size_t>(event.data.u64 & 0xFFFF'FFFFU);
    if (place >= watched_.size() || watched_[place] == nullptr) continue;
    const auto watched = watched_[place];  // it may go while it is told
    if (watched->number != event.data.u64 >> 32U) continue;
    tell(*watched, event.events);
    return true;
  }
  return false;
}

bool EpollLoop::take_posted() {
  if (batch_.capacity() > kBatchKept) std::vector<std::function<void()>>().swap(batch_);
  batch_.clear();
  batch_at_ = 0;
  const std::scoped_lock lock(mutex_);
  batch_.swap(posted_);
  return !batch_.empty();
}

void EpollLoop::look() {
  const bool posted = take_posted();
  round_ns_ = now_ns();
  round_timers_end_ = timers_made_;
  const int timeout_ms = posted ? 0 : wait_ms();
  if (posted && ++rounds_unpolled_ < kUnpolledRoundsMax) return;
  rounds_unpolled_ = 0;
  poll(timeout_ms);
}

// Until the first timer is due, rounded up: up to a millisecond late, never early. -1: no timer.
int EpollLoop::wait_ms() const {
  const auto* const first = timers_.first();
  if (first == nullptr) return -1;
  const std::int64_t left_ns = first->at_ns - round_ns_;
  if (left_ns <= 0) return 0;
  return static_cast<int>(
      std::min<std::int64_t>((left_ns + kNsPerMs - 1) / kNsPerMs, std::numeric_limits<int>::max()));
}

void EpollLoop::poll(int timeout_ms) {
  if (timeout_ms != 0) {
    const std::scoped_lock lock(mutex_);
    if (!posted_.empty()) {
      timeout_ms = 0;
    } else {
      state_ = State::asleep;
    }
  }
  ready_at_ = 0;
  const int count = ::epoll_wait(epoll_, ready_.data(), static_cast<int>(kReadyMax), timeout_ms);
  PAWL_ASSERT(count >= 0 || errno == EINTR);
  ready_end_ = static_cast<std::size_t>(std::max(count, 0));
  if (timeout_ms == 0) return;
  const std::scoped_lock lock(mutex_);
  state_ = State::awake;
}

std::int64_t EpollLoop::wall_ms() const {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

std::int64_t EpollLoop::monotonic_ms() const {
  return now_ns() / kNsPerMs;
}

}  // namespace pawl
