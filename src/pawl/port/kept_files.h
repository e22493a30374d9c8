// Files beside a store: those that tools have kept, those that are written for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

struct FileTally {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};
enum class OldFiles : std::uint8_t { counted, removed };

// A new file, written piece by piece. Unless finish() says ok, there is no such file.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual Status write(std::string_view piece) = 0;
  virtual Status finish() = 0;
};

// The lines of a file that can be read more than once.
class LineSource {
 public:
  virtual ~LineSource() = default;
  // The next line, without its line break; nullopt at the end of the file. invalid_argument: the
  // last line does not end. limit_exceeded: the line is longer than `bytes_max`.
  virtual Result<std::optional<std::string>> next(std::size_t bytes_max) = 0;
  virtual Status rewind() = 0;
};

}  // namespace pawl
