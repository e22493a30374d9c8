// Makes every decision of a run again, from its recorded events alone, and compares. Nothing is
// called: neither a model nor a tool, and nothing is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/kernel/codec.h"
#include "pawl/store.h"

namespace pawl {

// The first record that this version of Pawl would have written otherwise.
struct ReplayDifference {
  std::uint64_t seq = 0;
  std::string event;     // its type
  std::string path;      // "$.decisions[0].step"; "$" when the event as a whole is refused
  std::string recorded;  // JSON; empty where there is none
  std::string decided;   // likewise, or why it is refused
};

// The result of checking a fork against the run that it names.
enum class Lineage : std::uint8_t { no_fork, confirmed, parent_absent, contradicted };
std::string_view name(Lineage value);

struct ReplayReport {
  RunId run;
  std::uint64_t records = 0;  // decided again, with the same bytes
  std::uint64_t blobs = 0;    // references that were followed
  std::uint64_t expired = 0;  // of them: decisions need no bytes, and they were let go
  Digest chain;               // over the records as they were decided again
  std::optional<ReplayDifference> difference;
  std::string damage;  // of what is stored; empty: none was found
  Lineage lineage = Lineage::no_fork;

  bool same() const { return !difference && damage.empty() && lineage != Lineage::contradicted; }
};

// Goes through the journal once; memory does not grow with its contents. Damage ends it and is part
// of the report, as is a difference. not_found: no such run.
Result<ReplayReport> replay(JournalReader& reader, const RunId& run);

}  // namespace pawl
