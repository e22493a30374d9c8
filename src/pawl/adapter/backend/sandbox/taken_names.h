// What a command made under a protected name, moved out of the work tree: nothing is destroyed.
//
//   DIRECTORY/RUN/3/.envrc        the third thing that was taken from the run
//   DIRECTORY/absent-RUN-…        names that were absent when a session began, while it lives
//
// A session that is killed leaves its note. The next session, or `pawl doctor`, takes what the note
// names and is there now.
#pragma once

#include <string>
#include <vector>

#include "pawl/base/descriptor.h"
#include "pawl/base/result.h"

namespace pawl::backend {

inline constexpr int kTakenMax = 10'000;                        // of one run
inline constexpr std::size_t kTakenEntriesMax = 20'000;         // of one copy
inline constexpr std::uint64_t kTakenBytesMax = 256ULL << 20U;  // likewise
inline constexpr std::size_t kAbsentNoteBytesMax = 4U << 20U;
inline constexpr std::size_t kAbsentNotesMax = 1024;  // looked at in one sweep

class TakenNames {
 public:
  // `directory` empty: the one of default_taken_directory().
  TakenNames(std::string directory, std::string run);

  const std::string& directory() const { return directory_; }
  // Moves the entry `part` of `parent` away; where the data directory is on another file system it
  // is copied, then removed. Returns where it is now.
  Result<std::string> take(const Descriptor& parent, const std::string& part) const;
  // Likewise, by its path, on which no link is followed.
  Result<std::string> take_path(const std::string& path) const;

 private:
  Result<std::string> make_slot() const;

  std::string directory_;
  std::string run_;
};

// Beneath the system's temporary directory, of this user only.
std::string default_taken_directory();

// On disk while it lives, and locked; removed by remove(), or left if the process is killed.
class AbsentNote {
 public:
  AbsentNote() = default;
  static Result<AbsentNote> write(const TakenNames& store, const std::string& run,
                                  const std::vector<std::string>& paths);
  void remove();

 private:
  std::string path_;
  Descriptor file_;
};

// Takes what sessions that were killed have left. A sentence for each thing.
std::vector<std::string> sweep_absent_notes(const std::string& directory);

// "PATH is a protected name: it was moved to TAKEN (mv TAKEN PATH puts it back)"
std::string describe_taken(const std::string& path, const Result<std::string>& taken);

}  // namespace pawl::backend
