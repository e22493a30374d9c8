#include "pawl/base/patch_reader.h"

#include <set>

#include "pawl/base/patch_lines.h"

namespace pawl {
namespace {

Status check_paths(const std::vector<FilePatch>& files) {
  std::set<std::string_view> seen;
  for (const FilePatch& file : files) {
    const auto refuse = [&file](const std::string& why) {
      return Error{ErrorCode::invalid_argument,
                   "patch line " + std::to_string(file.line) + ": " + why};
    };
    if (file.path.empty() || (file.move_to && file.move_to->empty())) {
      return refuse("a path is missing");
    }
    if (!seen.insert(file.path).second) return refuse(file.path + " occurs twice in the patch");
    if (file.move_to && !seen.insert(*file.move_to).second) {
      return refuse(*file.move_to + " occurs twice in the patch");
    }
  }
  return ok();
}

}  // namespace

Result<std::vector<FilePatch>> read_patch(std::string_view text) {
  if (text.size() > kPatchBytesMax) {
    return Error{ErrorCode::limit_exceeded,
                 "the patch is larger than " + std::to_string(kPatchBytesMax) + " bytes"};
  }
  patch::Lines lines(text);
  while (!lines.at_end() && patch::is_blank(lines.line())) lines.next();
  const bool envelope = lines.line().starts_with("*** Begin Patch");
  PAWL_TRY(auto files, envelope ? patch::read_envelope(lines) : patch::read_unified(lines));
  if (files.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "the patch changes no file: write a unified diff (--- a/x, +++ b/x, @@), or "
                 "*** Begin Patch … *** End Patch"};
  }
  PAWL_CHECK(check_paths(files));
  return files;
}

}  // namespace pawl
