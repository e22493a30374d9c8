// The bounds of a run as they are written in charters and on command lines.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"
#include "pawl/kernel/retry.h"
#include "pawl/limits.h"
#include "pawl/result.h"

namespace pawl {

// The largest value of each limit; the smallest is 1.
inline constexpr std::int64_t kLimitStepsMax = 1'000'000;
inline constexpr std::int64_t kLimitModelCallsMax = 10'000'000;
inline constexpr std::int64_t kLimitToolCallsMax = 10'000'000;
inline constexpr std::int64_t kLimitTimeMaxMs = 365LL * 24 * 3600 * 1000;
inline constexpr std::int64_t kLimitTokensMax = 1'000'000'000'000;
inline constexpr std::int64_t kLimitBytesMax = 1LL << 40U;  // in, and out
inline constexpr std::int64_t kLimitBranchesMax = 100'000;

// 0, or "off", switches a guard off.
inline constexpr std::int64_t kGuardMin = 2;
inline constexpr std::int64_t kGuardMax = 1'000;

inline constexpr std::int64_t kAttemptsMax = 20;
inline constexpr std::int64_t kDelayMaxMs = 3'600'000;

// The three sections of a charter. What is absent or wrong stays as it was.
void read_limits(const Node& node, std::vector<Fault>& faults, Limits& limits, Spending& spending);
void read_guards(const Node& node, std::vector<Fault>& faults, Guards& guards);
void read_attempts(const Node& node, std::vector<Fault>& faults, RetryPolicy& policy);

// The same spellings and ranges for one limit: set_limit(limits, "time", "10m"). '-' and '_' are
// alike in `key`.
Status set_limit(Limits& limits, std::string_view key, std::string_view value);
// Likewise one guard: set_guard(guards, "tool_errors", "off").
Status set_guard(Guards& guards, std::string_view key, std::string_view value);

}  // namespace pawl
