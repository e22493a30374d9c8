// The operations that perform the effects of one run.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "pawl/port/loop.h"
#include "pawl/run/in_flight.h"

namespace pawl {

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
