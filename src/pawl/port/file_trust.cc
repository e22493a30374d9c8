#include "pawl/port/file_trust.h"

#include <utility>

#include "pawl/base/files.h"
#include "pawl/base/shell_word.h"

namespace pawl {

HostFile host_file(std::string path, const std::string& bytes) {
  HostFile file{std::move(path), sha256(bytes)};
  const bool text = bytes.size() <= kTrustedTextBytesMax && bytes.find('\0') == std::string::npos;
  if (text) file.text = bytes;
  return file;
}

Result<HostFile> read_host_file(const std::string& path) {
  auto bytes = read_regular_file(path, kFileBytesDigested);
  if (bytes) return host_file(path, *bytes);
  if (bytes.error().code != ErrorCode::limit_exceeded) return bytes.error();
  const auto info = look_at_file(path);
  if (!info) return bytes.error();
  std::string facts = "a long file";
  for (const std::int64_t fact :
       {std::int64_t(info->device), std::int64_t(info->inode), std::int64_t(info->bytes),
        info->written.seconds, info->written.nanoseconds, info->changed.seconds,
        info->changed.nanoseconds}) {
    facts += " " + std::to_string(fact);
  }
  return HostFile{path, sha256(facts)};
}

std::string describe(const UntrustedFile& file) {
  const std::string by = file.run.empty() ? "an agent" : "a session of the run " + file.run;
  std::string why = "is not what the run began with";
  if (!file.run.empty()) {
    why = (file.was == UntrustedFile::Was::known ? "changed" : "was made or changed") +
          std::string(" while ") + by + " could write there";
  }
  return file.now.path + ": " + why + "; look at it, then run: pawl trust " +
         shell_quoted(file.now.path);
}

}  // namespace pawl
