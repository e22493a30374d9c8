#include "pawl/surface/cli/trust_view.h"

#include "pawl/surface/cli/line_diff.h"

namespace pawl {
namespace {

// What cannot be shown has to be looked at elsewhere, and the digest says which bytes.
std::string change_of(const UntrustedFile& file) {
  if (file.now.text.empty()) {
    return "  (empty, too long, or not text: look at it yourself; sha256 " +
           to_hex(file.now.digest) + ")\n";
  }
  if (file.before && *file.before == file.now.text) return "  (as it was trusted before)\n";
  if (file.before) return shown_diff(*file.before, file.now.text);
  const std::string all = shown_diff("", file.now.text);
  if (file.was == UntrustedFile::Was::unknown) return "  (not known before; all of it:)\n" + all;
  return "  (what it said before was not kept; all of it now:)\n" + all;
}

}  // namespace

FileQuestion question_of(const UntrustedFile& file) {
  return {file.now.path, describe(file), change_of(file), to_hex(file.now.digest)};
}

std::vector<FileQuestion> questions_of(const std::vector<UntrustedFile>& files) {
  std::vector<FileQuestion> questions;
  for (const UntrustedFile& file : files) questions.push_back(question_of(file));
  return questions;
}

}  // namespace pawl
