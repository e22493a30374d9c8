// Patches as text: unified diffs (with or without git's headers) and the envelope
//   *** Begin Patch / *** Add File: / *** Update File: / *** Move to: / *** Delete File: /
//   @@ anchor / *** End of File / *** End Patch
// Strict: a line that has no place, a hunk whose counts are wrong, a path that occurs twice, binary
// patches, copies and changes of mode are errors with the line of the patch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kPatchBytesMax = 16U << 20U;
inline constexpr std::size_t kPatchFilesMax = 500;
inline constexpr std::size_t kPatchHunksMax = 10'000;  // of one file

struct PatchLine {
  enum class Kind : std::uint8_t { context, removed, added };
  Kind kind = Kind::context;
  std::string text;     // without its line feed
  bool newline = true;  // false: "\ No newline at end of file" stood behind it

  friend bool operator==(const PatchLine&, const PatchLine&) = default;
};

struct PatchHunk {
  std::size_t line = 0;                  // of the patch, from 1
  std::optional<std::size_t> old_start;  // unified: the first line it speaks of, as the patch says
  std::string anchor;                    // envelope: a line that comes before it; may be empty
  bool at_end = false;                   // envelope: it matches the end of the file
  std::vector<PatchLine> lines;

  friend bool operator==(const PatchHunk&, const PatchHunk&) = default;
};

struct FilePatch {
  enum class Kind : std::uint8_t { add, update, remove };
  Kind kind = Kind::update;
  std::string path;  // as written, without git's a/ and b/
  std::optional<std::string> move_to;
  std::string content;      // of an added file
  bool executable = false;  // an added file
  std::vector<PatchHunk> hunks;
  std::size_t line = 0;  // of the patch, from 1

  friend bool operator==(const FilePatch&, const FilePatch&) = default;
};

Result<std::vector<FilePatch>> read_patch(std::string_view text);

}  // namespace pawl
