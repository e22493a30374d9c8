#include "pawl/testing/sim/clock.h"

#include <algorithm>
#include <utility>

namespace pawl::sim {
namespace {

class SimTimer final : public Timer {
 public:
  explicit SimTimer(std::shared_ptr<bool> wanted) : wanted_(std::move(wanted)) {}
  ~SimTimer() override { *wanted_ = false; }
  SimTimer(const SimTimer&) = delete;
  SimTimer& operator=(const SimTimer&) = delete;

 private:
  std::shared_ptr<bool> wanted_;
};

}  // namespace

bool SimClock::step() {
  SimLoop* next = nullptr;
  for (SimLoop* loop : loops_) {
    loop->drop_unwanted();
    if (loop->stopped_ || loop->items_.empty()) continue;
    if (next == nullptr || SimLoop::later(next->items_.front(), loop->items_.front())) next = loop;
  }
  if (next == nullptr) return false;
  std::pop_heap(next->items_.begin(), next->items_.end(), SimLoop::later);
  const SimLoop::Item item = std::move(next->items_.back());
  next->items_.pop_back();
  now_ms_ = std::max(now_ms_, item.due_ms);
  if (item.wanted) *item.wanted = false;
  item.work();
  return true;
}

SimLoop::SimLoop(SimClock& clock) : clock_(clock) {
  clock_.loops_.push_back(this);
}

SimLoop::~SimLoop() {
  std::erase(clock_.loops_, this);
  clear();
}

void SimLoop::clear() {
  // What the work holds may post again while it is destroyed.
  while (!items_.empty()) {
    const std::vector<Item> dropped = std::exchange(items_, {});
  }
}

bool SimLoop::later(const Item& a, const Item& b) {
  return std::pair(a.due_ms, a.order) > std::pair(b.due_ms, b.order);
}

void SimLoop::drop_unwanted() {
  while (!items_.empty() && items_.front().wanted && !*items_.front().wanted) {
    std::pop_heap(items_.begin(), items_.end(), later);
    items_.pop_back();
  }
}

void SimLoop::push(std::int64_t due_ms, std::function<void()> work, std::shared_ptr<bool> wanted) {
  items_.push_back({due_ms, ++clock_.order_, std::move(work), std::move(wanted)});
  std::push_heap(items_.begin(), items_.end(), later);
}

void SimLoop::post(std::function<void()> work) {
  push(clock_.now_ms_, std::move(work), nullptr);
}

void SimLoop::at(std::int64_t delay_ms, std::function<void()> work) {
  push(clock_.now_ms_ + delay_ms, std::move(work), nullptr);
}

std::unique_ptr<Timer> SimLoop::after(std::int64_t delay_ms, std::function<void()> due) {
  std::int64_t due_ms = clock_.now_ms_ + delay_ms;
  if (clock_.narrow_) due_ms = static_cast<std::int32_t>(static_cast<std::uint32_t>(due_ms));
  auto wanted = std::make_shared<bool>(true);
  push(due_ms, std::move(due), wanted);
  return std::make_unique<SimTimer>(std::move(wanted));
}

}  // namespace pawl::sim
