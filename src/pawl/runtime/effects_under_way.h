// What a driver holds of the effects that it performs. Hardly ever more than a few at a time: a
// list that keeps its room is looked through faster than memory is found for a tree's nodes.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "pawl/kernel/ids.h"

namespace pawl {

template <class Held>
class EffectsUnderWay {
 public:
  // nullptr: nothing is held of it.
  Held* find(EffectId effect) {
    const auto found = place_of(effect);
    return found == items_.end() ? nullptr : &found->held;
  }
  // Of what is nothing, nothing is held.
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
  // What ends may look for itself here: nothing is left to be found by then.
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
