// Artifacts: tool results that are too long for a record and are kept beside the journal. They can
// be listed, read with their digest checked, and removed when they are old.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pawl/ids.h"
#include "pawl/store.h"

namespace pawl {

struct Artifact {
  // Whether the run itself may still need it: its conversation if it can go on, its output, or what
  // somebody said in the same words.
  enum class Need : std::uint8_t { none, kept } need = Need::none;
  CallId call{};           // that gave it first
  std::uint64_t seq = 0;   // the first record that names it
  std::int64_t at_ms = 0;  // of the newest record that names it
  Digest digest;
  std::uint64_t bytes = 0;
  std::optional<std::int64_t> expired_at_ms = {};
};

// In the order in which the run got them. Reads the whole journal. not_found; corrupt: it is
// damaged, and nothing is said about any of them.
Result<std::vector<Artifact>> artifacts_of(JournalReader& reader, const RunId& run);

}  // namespace pawl
