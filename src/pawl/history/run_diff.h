// Where two runs differ: by step and JSON path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/kernel/run.h"
#include "pawl/store.h"

namespace pawl {

inline constexpr std::size_t kDifferencesMax = 20;      // that are listed
inline constexpr std::size_t kStepItemsMax = 10'000;    // events of one step that are compared
inline constexpr std::size_t kExcerptBytesBefore = 40;  // of a long text, around the difference
inline constexpr std::size_t kExcerptBytesMax = 200;

// What is compared. In substance: inputs, replies, results, messages, endings. Not what must differ
// (ids of runs, effects and providers, times, epochs), nor that somebody paused, resumed or took
// over a run, nor in which order calls of one step ended. All: every record, in full.
enum class DiffScope : std::uint8_t { substance, all };

struct RunDifference {
  std::uint64_t step = 0;
  std::string event;  // its type
  std::string call;   // "c3", when it is about a call
  std::optional<std::uint64_t> seq_a;
  std::optional<std::uint64_t> seq_b;
  std::string
      path;       // in the event as `pawl logs --json` prints it; "$": one side has no such event
  std::string a;  // JSON; empty: there is nothing
  std::string b;
  std::optional<std::uint64_t> byte;  // where two texts part
};

// A run in a line.
struct RunOutline {
  RunId run;
  RunStatus status = RunStatus::running;
  std::string reason;  // why it stopped, what it waits for
  std::uint64_t records = 0;
  std::string currency;
  Tally tally;
};

enum class PrefixOf : std::uint8_t { neither, a_of_b, b_of_a };
std::string_view name(PrefixOf value);

struct RunDiff {
  RunOutline a;
  RunOutline b;
  std::vector<RunDifference> differences;  // the first kDifferencesMax
  enum class Rest : std::uint8_t { compared, not_compared } rest = Rest::compared;
  PrefixOf prefix = PrefixOf::neither;  // one ends where the other goes on
  enum class Outputs : std::uint8_t { same, differ } outputs = Outputs::same;

  bool same() const { return differences.empty() && prefix == PrefixOf::neither; }
};

// Reads both journals side by side, a step at a time. corrupt: one of them is damaged.
Result<RunDiff> diff_runs(JournalReader& reader, const RunId& a, const RunId& b, DiffScope scope);

}  // namespace pawl
