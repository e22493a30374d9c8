// A circuit breaker for each target: one that failed too often a moment ago is not asked again yet.
//
// Two failures in a row open the breaker of a target for 5 s, each further one for twice as long,
// up to 5 min. A success closes it. A provider that says when to come back is taken at its word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "pawl/executor.h"

namespace pawl {

inline constexpr std::uint32_t kBreakerFailures = 2;
inline constexpr std::int64_t kBreakerFirstMs = 5'000;
inline constexpr std::int64_t kBreakerMaxMs = 300'000;
inline constexpr std::int64_t kBreakerAskedMaxMs = 24LL * 3600 * 1000;  // for a provider's own word
inline constexpr std::size_t kBreakerTargetsMax = 4096;

// What a failure says something about.
enum class Blame : std::uint8_t { request, target };
Blame blame_of(FailureKind kind);

class CircuitBreakers {
 public:
  // How long the breaker of `target` stays open; 0: it may be asked.
  std::uint64_t open_ms(const std::string& target, std::int64_t now_ms) const;

  void succeeded(const std::string& target);
  // `started_ms` is when the call began: calls that were in flight together when a breaker
  // opened fail together, and count as one.
  void failed(const std::string& target, const PhaseFailed& failure, std::int64_t started_ms,
              std::int64_t now_ms);

 private:
  struct Health {
    std::uint32_t failures = 0;  // in a row
    std::int64_t until_ms = 0;
    std::int64_t opened_at_ms = 0;  // meaningful when until_ms is
  };
  void make_room(std::int64_t now_ms);

  std::map<std::string, Health> targets_;  // those with failures
};

}  // namespace pawl
