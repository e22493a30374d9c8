// Who is to be looked at when. A deadline that moves into the future with every byte is not moved
// here: whoever is taken too early asks for a later time, so that a byte costs nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace pawl::http_curl {

inline constexpr std::int64_t kNeverMs = std::numeric_limits<std::int64_t>::max();

template <class Waiter>
class DeadlineQueue {
 public:
  // Its place in the queue, kept by the waiter.
  struct Place {
    std::int64_t at_ms = kNeverMs;
  };

  // In place of the time asked for before; kNeverMs leaves the queue.
  void set(Waiter& waiter, Place& place, std::int64_t at_ms) {
    if (place.at_ms == at_ms) return;
    if (place.at_ms != kNeverMs) order_.erase({place.at_ms, &waiter});
    place.at_ms = at_ms;
    if (at_ms != kNeverMs) order_.insert({at_ms, &waiter});
  }

  std::int64_t earliest_ms() const { return order_.empty() ? kNeverMs : order_.begin()->first; }
  // Null: nobody is due. The waiter stays where it is until it asks for another time.
  Waiter* first_due(std::int64_t now_ms) const {
    return earliest_ms() <= now_ms ? order_.begin()->second : nullptr;
  }

 private:
  std::set<std::pair<std::int64_t, Waiter*>> order_;
};

}  // namespace pawl::http_curl
