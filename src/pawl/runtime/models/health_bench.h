// Which targets failed too often a moment ago to be asked again now.
//
// Two failures in a row bench a target for 5 s, each further one for twice as long, up to 5 min. A
// success forgets all of it. A provider that says when to come back is taken at its word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "pawl/port/executor.h"

namespace pawl {

inline constexpr std::uint32_t kBenchAfterFailures = 2;
inline constexpr std::int64_t kBenchFirstMs = 5'000;
inline constexpr std::int64_t kBenchMaxMs = 300'000;
inline constexpr std::int64_t kBenchAskedMaxMs = 24LL * 3600 * 1000;  // for a provider's own word
inline constexpr std::size_t kBenchTargetsMax = 4096;

// Whether a failure says something about the target rather than about the request.
enum class Blame : std::uint8_t { request, target };
Blame blame_of(FailureKind kind);

class HealthBench {
 public:
  // How long `target` is still to be left alone; 0: it may be asked.
  std::uint64_t benched_ms(const std::string& target, std::int64_t now_ms) const;

  void succeeded(const std::string& target);
  // `started_ms` is when the call began: calls that were under way together when a target was
  // benched fail together, and count as one.
  void failed(const std::string& target, const PhaseFailed& failure, std::int64_t started_ms,
              std::int64_t now_ms);

 private:
  struct Health {
    std::uint32_t failures = 0;  // in a row
    std::int64_t until_ms = 0;
    std::int64_t benched_at_ms = 0;  // meaningful when until_ms is
  };
  void make_room(std::int64_t now_ms);

  std::map<std::string, Health> targets_;  // those with failures
};

}  // namespace pawl
