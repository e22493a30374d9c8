// The bytes of the journal: records, chain links, snapshots, inbox messages. docs/journal-format.md
// is the grammar; tests/golden holds examples of every released version.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"

namespace pawl {

inline constexpr std::uint8_t kSnapshotVersion = 4;

// "2.0": of the records that this program writes.
std::string record_version();

// Only of a record that was understood wholly: nothing of it was skipped.
std::string encode_record(const Record& record);
// corrupt: bytes that no encode_record() made. invalid_argument: another major version, or one of a
// newer minor version with something in it that this version does not know and may not skip.
Result<Record> decode_record(std::string_view bytes);

// What the first record's chain link hashes in place of a previous one.
Digest chain_origin(const RunId& run);
Digest chain_after(const Digest& previous, std::string_view record_bytes);

// The whole state, for a snapshot or a comparison.
std::string encode_snapshot(const Run& run);
// The same a piece at a time, of a state as it is now: encoding a long conversation takes longer
// than one callback of a loop may, copying it does not.
class SnapshotEncoder {
 public:
  explicit SnapshotEncoder(const Run& run);
  SnapshotEncoder(SnapshotEncoder&& other) noexcept;
  ~SnapshotEncoder();

  // Encodes at most so many more entries of conversations. True: all is encoded.
  bool encode(std::size_t entries_max);
  // Once all is.
  std::string take();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};
// What a SnapshotEncoder goes through: entries of conversations, and instances.
std::size_t snapshot_entries(const RunState& state);
Result<Run> decode_snapshot(std::string_view bytes);

// An event on its way through the inbox. Nothing of it is skipped: it would be acted on.
std::string encode_event(const Event& event);
Result<Event> decode_event(std::string_view bytes);
// Names what a person was asked and such an event answers. None: it answers no question. Of the
// answers to one question only one can count, so only one of them may wait in an inbox.
std::optional<std::string> question_of(std::string_view event_bytes);

}  // namespace pawl
