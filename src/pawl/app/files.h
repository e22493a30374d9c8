// Files as the program reads and writes them: whole, and bounded.
#pragma once

#include <cstddef>
#include <string>

#include "pawl/base/result.h"

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
// Makes a new file, durably. conflict: it is there already.
enum class FileMode : std::uint8_t { usual, owner_only };
Status write_new_file(const std::string& path, const std::string& text,
                      FileMode mode = FileMode::usual);
// With mode 0700 when it is new; what it lies in is made as needed.
Status make_private_directory(const std::string& path);

}  // namespace pawl
