// Lets a bounded number of requests to one host connect at the same time; the others wait in order.
// By host, so that one that does not answer holds up nobody but its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "pawl/result.h"

namespace pawl::http_curl {

template <class Waiter>
class ConnectGate {
 public:
  explicit ConnectGate(std::size_t connecting_max) : connecting_max_(connecting_max) {}

  void wait(const std::string& host, std::shared_ptr<Waiter> waiter) {
    const auto lane = lanes_.try_emplace(host).first;
    lane->second.waiting.push_back(std::move(waiter));
    look_at(lane);
  }

  // The next that may connect, which counts as connecting from now on; null: none may.
  std::shared_ptr<Waiter> enter() {
    if (open_.empty()) return nullptr;
    const auto lane = lanes_.find(*open_.begin());
    std::shared_ptr<Waiter> waiter = std::move(lane->second.waiting.front());
    lane->second.waiting.pop_front();
    ++lane->second.connecting;
    look_at(lane);
    return waiter;
  }

  // One that entered has connected, or will not.
  void leave(const std::string& host) {
    const auto lane = lanes_.find(host);
    PAWL_ASSERT(lane != lanes_.end() && lane->second.connecting > 0);
    --lane->second.connecting;
    look_at(lane);
  }

  // One that waits does so no more.
  void forget(const std::string& host, const Waiter& waiter) {
    const auto lane = lanes_.find(host);
    if (lane == lanes_.end()) return;
    auto& waiting = lane->second.waiting;
    const auto at = std::find_if(waiting.begin(), waiting.end(),
                                 [&](const auto& other) { return other.get() == &waiter; });
    if (at != waiting.end()) waiting.erase(at);
    look_at(lane);
  }

  bool can_enter() const { return !open_.empty(); }

 private:
  struct Lane {
    std::deque<std::shared_ptr<Waiter>> waiting;
    std::size_t connecting = 0;
  };
  using Lanes = std::map<std::string, Lane>;

  void look_at(typename Lanes::iterator lane) {
    const auto& [waiting, connecting] = lane->second;
    if (!waiting.empty() && connecting < connecting_max_) {
      open_.insert(lane->first);
      return;
    }
    open_.erase(lane->first);
    if (waiting.empty() && connecting == 0) lanes_.erase(lane);
  }

  const std::size_t connecting_max_;
  Lanes lanes_;
  std::set<std::string> open_;  // the lanes that somebody may enter from
};

}  // namespace pawl::http_curl
