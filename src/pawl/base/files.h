// Files as the program reads and writes them: whole, and bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "pawl/result.h"

namespace pawl {

// "-" is standard input. not_found; limit_exceeded: longer than `bytes_max`; invalid_argument: a
// directory; unavailable: cannot be read.
Result<std::string> read_file(const std::string& path, std::size_t bytes_max);
// Of a place that a tool can write: never waits, whatever is there by now, and takes no more than
// the file said it has. One that says it has nothing is not read: so do those of /proc, of which
// some have no end and some wait. invalid_argument: not a regular file; otherwise as read_file().
Result<std::string> read_regular_file(const std::string& path, std::size_t bytes_max);
// Likewise, of a path that starts at `directory` and stays beneath it, whatever links it has.
// invalid_argument: it leads out.
Result<std::string> read_file_beneath(const std::string& directory, const std::string& name,
                                      std::size_t bytes_max);
// What the system says of a file; links are followed.
struct FileFacts {
  enum class Kind : std::uint8_t { regular, directory, other } kind = Kind::other;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  struct Time {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
  };
  Time written = {};
  Time changed = {};  // no program can set it
};
// Nothing: it is not there, or cannot be looked at.
std::optional<FileFacts> look_at_file(const std::string& path);
// By this process.
bool can_be_executed(const std::string& path);
// Makes a new file, durably. conflict: it is there already.
enum class FileMode : std::uint8_t { usual, owner_only };
Status write_new_file(const std::string& path, const std::string& text,
                      FileMode mode = FileMode::usual);
// With mode 0700 when it is new; what it lies in is made as needed.
Status make_private_directory(const std::string& path);

}  // namespace pawl
