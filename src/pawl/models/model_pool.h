// The providers of a process, with what their calls share: the health of each target, and the gate
// in front of each provider.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/executor.h"
#include "pawl/models/circuit_breakers.h"
#include "pawl/models/fair_gate.h"
#include "pawl/port/model_sinks.h"

namespace pawl {

inline constexpr std::size_t kProvidersMax = 64;

struct PooledProvider {
  std::string name;  // what "provider/model" begins with
  std::shared_ptr<Executor> executor;
  GateBounds bounds;
  std::string missing;  // what it lacks ("set ANTHROPIC_API_KEY"); empty: nothing
  enum class Bills : std::uint8_t { by_price, none } bills = Bills::by_price;
};

struct ModelSinks {
  std::shared_ptr<UsageSink> usage;  // may be null
  std::shared_ptr<TraceSink> trace;  // may be null
};

// The loop outlives the pool and every call. Used on the loop thread.
class ModelPool {
 public:
  struct Entry {
    PooledProvider provider;
    std::shared_ptr<FairGate> gate;
  };

  explicit ModelPool(Loop& loop, ModelSinks sinks = {}) : loop_(loop), sinks_(std::move(sinks)) {}

  // invalid_argument: a bad name, no executor, a declaration that check_capabilities() refuses;
  // conflict: the name is taken; limit_exceeded.
  Status add(PooledProvider provider);
  // nullptr: there is none.
  const Entry* find(std::string_view provider) const;
  const std::map<std::string, Entry, std::less<>>& providers() const { return providers_; }

  Loop& loop() const { return loop_; }
  CircuitBreakers& breakers() { return breakers_; }
  const ModelSinks& sinks() const { return sinks_; }

 private:
  Loop& loop_;
  ModelSinks sinks_;
  CircuitBreakers breakers_;
  std::map<std::string, Entry, std::less<>> providers_;
};

}  // namespace pawl
