// Approvals for always: the digests of what somebody approved once and for all, one JSON object a
// line. Such a digest is that of one call in all its circumstances (CallGate::binding_of), so that
// other bytes, another directory, a changed script or policy are asked about again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/approvals/approvals.h"
#include "pawl/ids.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kRememberedMax = 1'000;
inline constexpr std::size_t kRememberedInputBytesMax = 1'024;  // of the arguments, for people
inline constexpr std::size_t kRememberedBytesMax = 8U << 20U;
inline constexpr std::size_t kRememberedIdDigits = 12;

struct RememberedApproval {
  Digest binding;
  std::string project;  // the directory of the charter
  std::string tool;
  std::string input;  // the beginning of its arguments
  std::string by;
  std::int64_t at_ms = 0;

  std::string id() const { return to_hex(binding).substr(0, kRememberedIdDigits); }
  friend bool operator==(const RememberedApproval&, const RememberedApproval&) = default;
};

// conflict: what asks for it asks every time, or only somebody else may approve it.
Result<RememberedApproval> remembered_of(const PendingApproval& pending, const RunState& state,
                                         std::string by, std::int64_t at_ms);

std::string remembered_line(const RememberedApproval& approval);
// corrupt, with the line: then none of them counts.
Result<std::vector<RememberedApproval>> read_remembered(std::string_view text);

}  // namespace pawl
