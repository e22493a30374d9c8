// Strong ids of the kernel. Numbers are run-wide and never reused.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/base/result.h"

namespace pawl {

inline constexpr std::size_t kRunIdBytesMax = 64;

// Time-ordered when Pawl makes it; a host may bring its own.
struct RunId {
  std::string text;

  friend auto operator<=>(const RunId&, const RunId&) = default;
};

// Letters, digits, '-', '_' and '.', starting with a letter or digit.
Result<RunId> parse_run_id(std::string_view text);

enum class InstanceId : std::uint32_t {};  // i1 is the root
enum class CallId : std::uint64_t {};      // c1, c2, …: one tool call each
enum class EffectId : std::uint64_t {};    // e1, e2, …: one attempt at something outside each

inline constexpr InstanceId kRootInstance{1};

std::string to_string(InstanceId id);
std::string to_string(CallId id);
std::string to_string(EffectId id);
// "c7", or "7".
Result<CallId> parse_call_id(std::string_view text);
// "i2", or "2".
Result<InstanceId> parse_instance_id(std::string_view text);

}  // namespace pawl
