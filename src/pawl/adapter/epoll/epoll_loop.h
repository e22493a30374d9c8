// The loop on epoll, its own: run by whoever calls run_until().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "pawl/adapter/epoll/timer_heap.h"
#include "pawl/port/main_loop.h"

struct epoll_event;

namespace pawl {

class EpollLoop final : public MainLoop {
 public:
  EpollLoop();
  ~EpollLoop() override;  // after all timers and watches
  EpollLoop(const EpollLoop&) = delete;
  EpollLoop& operator=(const EpollLoop&) = delete;

  void post(std::function<void()> work) override;
  std::unique_ptr<Timer> after(std::int64_t delay_ms, std::function<void()> due) override;
  std::unique_ptr<Watch> watch(int fd, Interest interest,
                               std::function<void(Interest)> ready) override;
  std::int64_t wall_ms() const override;
  std::int64_t monotonic_ms() const override;

  void run_until(const std::function<bool()>& finished) override;
  std::unique_ptr<Signals> on_signals(std::vector<int> signals,
                                      std::function<void(int)> got) override;

 private:
  class HeapTimer;
  class DescriptorWatch;
  struct Watched;
  // Ready at once, at most; more come with the next look.
  static constexpr std::size_t kReadyMax = 64;

  // One piece of work each; false: there is none of this kind in this round.
  bool run_posted();
  bool run_timer();
  bool run_ready();
  // Begins a round: finds out what there is to do, and waits until there is something.
  void look();
  bool take_posted();
  void poll(int timeout_ms);
  int wait_ms() const;
  void tell_of_fault(const std::shared_ptr<Watched>& watched, Interest interest);
  void tell(Watched& watched, std::uint32_t events);
  void set_events(Watched& watched, std::uint32_t events) const;

  const int epoll_;
  const int waker_;  // an eventfd: edges wake, nobody reads it

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded, as what follows
  enum class State : std::uint8_t { awake, asleep } state_ = State::awake;

  std::vector<std::function<void()>> batch_;  // of this round
  std::size_t batch_at_ = 0;
  epoll::TimerHeap timers_;
  std::uint64_t timers_made_ = 0;
  std::int64_t round_ns_ = 0;           // when the round began
  std::uint64_t round_timers_end_ = 0;  // timers that were made since wait for the next round
  int rounds_unpolled_ = 0;
  std::vector<epoll_event> ready_;
  std::size_t ready_at_ = 0;
  std::size_t ready_end_ = 0;
  // By descriptor. A number may be another's by the time that its event is looked at.
  std::vector<std::shared_ptr<Watched>> watched_;
  std::uint32_t watches_made_ = 0;
};

}  // namespace pawl
