// The operations that perform the effects of one run.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "pawl/ids.h"
#include "pawl/loop.h"

namespace pawl {

// A map from the effects in flight to what their driver holds for each. There are seldom more than
// a few: a list that keeps its memory is searched faster than a tree allocates its nodes.
template <class Held>
class InFlight {
 public:
  // nullptr: nothing is held for it.
  Held* find(EffectId effect) {
    const auto found = place_of(effect);
    return found == items_.end() ? nullptr : &found->held;
  }
  // A null value is not stored.
  void put(EffectId effect, Held held) {
    if (!held) return;
    if (Held* before = find(effect)) {
      *before = std::move(held);
    } else {
      items_.push_back({effect, std::move(held)});
    }
  }
  // Empty if nothing was held.
  Held take(EffectId effect) {
    const auto found = place_of(effect);
    if (found == items_.end()) return {};
    Held held = std::move(found->held);
    items_.erase(found);
    return held;
  }
  template <class Use>
  void for_each(Use&& use) {
    for (Item& item : items_) use(item.held);
  }
  // The destructor of a held object may look itself up here: it finds nothing.
  void clear() { const auto ended = std::exchange(items_, {}); }

 private:
  struct Item {
    EffectId effect;
    Held held;
  };

  auto place_of(EffectId effect) {
    return std::find_if(items_.begin(), items_.end(),
                        [effect](const Item& item) { return item.effect == effect; });
  }

  std::vector<Item> items_;
};

class Operations {
 public:
  using StopFlag = std::shared_ptr<std::atomic<bool>>;

  Operations() = default;
  ~Operations() { stop_all(); }
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  void put(EffectId effect, std::unique_ptr<Operation> operation) {
    operations_.put(effect, std::move(operation));
  }
  // A flag for the threads of a tool: set when the effect is aborted, retired or cancelled.
  StopFlag add_stop_flag(EffectId effect) {
    auto flag = std::make_shared<std::atomic<bool>>(false);
    flags_.put(effect, flag);
    return flag;
  }
  void drop_stop_flag(EffectId effect) { flags_.take(effect); }

  // Asks the operation to end soon; its callback is still called.
  void abort(EffectId effect) {
    if (const auto* flag = flags_.find(effect)) **flag = true;
    if (const auto* operation = operations_.find(effect)) (*operation)->abort();
  }
  // For use in the operation's own callback, which must not destroy it: drop_retired() does, when
  // the record that the callback leads to is durable.
  void retire(EffectId effect) {
    if (const auto flag = flags_.take(effect)) *flag = true;
    if (auto operation = operations_.take(effect)) retired_.push_back(std::move(operation));
  }
  void drop_retired() { retired_.clear(); }
  // Retires all operations: one of them may be calling back now.
  void cancel_all() {
    stop_all();
    operations_.for_each([this](auto& operation) { retired_.push_back(std::move(operation)); });
    operations_.clear();
  }

 private:
  void stop_all() {
    flags_.for_each([](auto& flag) { *flag = true; });
  }

  InFlight<std::unique_ptr<Operation>> operations_;
  std::vector<std::unique_ptr<Operation>> retired_;
  InFlight<StopFlag> flags_;
};

}  // namespace pawl
