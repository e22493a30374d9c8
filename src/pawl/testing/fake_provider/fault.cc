#include "pawl/testing/fake_provider/fault.h"

#include <array>

namespace pawl::fake {

std::string_view name(FaultKind value) {
  static constexpr std::array<std::string_view, kFaultKinds> kNames = {
      "status",      "silence",     "stall",       "pings",           "close",
      "reset",       "error_event", "truncated",   "truncated_input", "duplicate",
      "splice",      "reorder",     "giant_line",  "giant_body",      "many_calls",
      "bad_utf8",    "split",       "trickle",     "gzip_bomb",       "deep_json",
      "lying_usage", "bad_chunk",   "huge_header", "continue_flood",  "length_and_chunked"};
  return kNames[static_cast<std::size_t>(value)];
}

int status_of(const FaultSpec& fault) {
  if (fault.status != 0) return fault.status;
  return fault.kind == FaultKind::error_event ? 529 : 429;
}

}  // namespace pawl::fake
