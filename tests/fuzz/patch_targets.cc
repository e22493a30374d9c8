// The reader of patches, and what it reads applied to a text.
#include <algorithm>
#include <set>

#include "pawl/adapter/backend/files/patch_apply.h"
#include "pawl/base/patch_reader.h"
#include "tests/fuzz/fuzz.h"

namespace pawl::fuzz {
namespace {

std::size_t count_added(const FilePatch& file) {
  std::size_t bytes = 0;
  for (const PatchHunk& hunk : file.hunks) {
    for (const PatchLine& line : hunk.lines) bytes += line.text.size() + 2;
  }
  return bytes;
}

void check_file(const FilePatch& file, std::string_view text) {
  FUZZ_CHECK(!file.path.empty());
  FUZZ_CHECK(file.line > 0);
  FUZZ_CHECK(file.kind == FilePatch::Kind::add || file.content.empty());
  FUZZ_CHECK(file.kind != FilePatch::Kind::add || file.hunks.empty());
  for (const PatchHunk& hunk : file.hunks) {
    FUZZ_CHECK(!hunk.lines.empty() || hunk.old_start.has_value());
    for (const PatchLine& line : hunk.lines) {
      FUZZ_CHECK(line.text.find('\n') == std::string::npos);
    }
  }
  const auto made = backend::apply_hunks(text, file);
  if (!made) {
    FUZZ_CHECK(!made.error().message.empty());
    return;
  }
  FUZZ_CHECK(made->size() <= text.size() + count_added(file) + 1);
  if (file.hunks.empty()) FUZZ_CHECK(*made == text);
}

}  // namespace

// A patch, and behind the first NUL the text that it is tried on.
void fuzz_patch(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view text = bytes.substr(std::min(end + 1, bytes.size()));
  const auto files = read_patch(bytes.substr(0, end));
  if (!files) {
    FUZZ_CHECK(!files.error().message.empty());
    return;
  }
  FUZZ_CHECK(!files->empty() && files->size() <= kPatchFilesMax);
  std::set<std::string> paths;
  for (const FilePatch& file : *files) {
    FUZZ_CHECK(paths.insert(file.path).second);
    check_file(file, text);
  }
}

}  // namespace pawl::fuzz
