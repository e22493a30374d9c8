// A map from the effects in flight to what their driver holds for each. There are seldom more than
// a few: a list that keeps its memory is searched faster than a tree allocates its nodes.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "pawl/kernel/ids.h"

namespace pawl {

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

}  // namespace pawl
