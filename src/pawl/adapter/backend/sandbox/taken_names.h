// What a command made under a protected name, moved out of the work tree: nothing is destroyed.
//
//   DIRECTORY/RUN/3/.envrc        the third thing that was taken from the run
//   DIRECTORY/absent-RUN-…        names that were absent when a session began, while it lives
//   DIRECTORY/writing/…           files that the file tools are writing
//
// All of it together is bounded: the oldest things go first. A session that is killed leaves its
// note. The next session, or `pawl doctor`, takes what the note names and is there now.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::backend {

inline constexpr int kTakenMax = 10'000;                           // of one run
inline constexpr std::size_t kTakenEntriesMax = 20'000;            // of one copy
inline constexpr std::uint64_t kTakenBytesMax = 256ULL << 20U;     // likewise
inline constexpr std::uint64_t kTakenStoreBytesMax = 1ULL << 30U;  // of all runs
inline constexpr std::int64_t kWritingSecondsMax = 3600;           // what is older is left over
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
  // Likewise, while commands still run: only where it is a rename. A copy could be led elsewhere.
  Result<std::string> take_now(const Descriptor& parent, const std::string& part) const;
  // Likewise, by its path, on which no link is followed.
  Result<std::string> take_path(const std::string& path) const;

 private:
  Result<std::string> make_slot() const;
  Result<std::string> take_by(const Descriptor& parent, const std::string& part,
                              const std::function<Status(const std::string& target)>& move) const;

  std::string directory_;
  std::string run_;
};

// Removes the oldest things that were taken until the rest fits, and at least one stays. Returns
// how many were removed.
std::size_t drop_oldest_taken(const std::string& directory, std::uint64_t bytes_max);
// What was taken occupies, in bytes.
std::uint64_t taken_bytes(const std::string& directory);

// Beneath the system's temporary directory, of this user only.
std::string default_taken_directory();

// What must not be there when a session has ended.
struct AbsentNames {
  std::vector<std::string> paths;  // absent when the session began
  // Names that hold at any depth: what has one of `names` beneath one of `roots` and is none of
  // `known` was not there either. No root: nobody could say.
  std::vector<std::string> roots = {};
  std::vector<std::string> names = {};
  std::vector<std::string> known = {};
};

// On disk while it lives, and locked; removed by remove(), or left if the process is killed.
class AbsentNote {
 public:
  AbsentNote() = default;
  static Result<AbsentNote> write(const TakenNames& store, const std::string& run,
                                  const AbsentNames& absent);
  void remove();

 private:
  std::string path_;
  Descriptor file_;
};

// All that has one of the names beneath one of the roots, absolute. An Error is told.
using FindNames = std::function<Result<std::vector<std::string>>(
    const std::vector<std::string>& roots, const std::vector<std::string>& names)>;

// Takes what sessions that were killed have left. A sentence for each thing.
std::vector<std::string> sweep_absent_notes(const std::string& directory, const FindNames& find);

// "PATH is a protected name: it was moved to TAKEN (mv TAKEN PATH puts it back)"
std::string describe_taken(const std::string& path, const Result<std::string>& taken);

}  // namespace pawl::backend
