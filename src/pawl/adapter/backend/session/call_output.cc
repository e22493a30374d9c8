#include "pawl/adapter/backend/session/call_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace pawl::backend {

CallOutput::CallOutput(std::uint64_t bytes_max, std::string artifact_directory)
    : bytes_max_(bytes_max), directory_(std::move(artifact_directory)), capture_(bytes_max) {}

void CallOutput::append(std::string_view bytes) {
  const bool fits = capture_.bytes_total() + bytes.size() <= bytes_max_;
  if (!fits && !file_ && !directory_.empty()) open_artifact();
  capture_.append(bytes);
  if (!file_) return;
  std::string_view rest =
      bytes.substr(0, std::min<std::uint64_t>(bytes.size(), kArtifactBytesMax - written_));
  while (!rest.empty()) {
    const ssize_t count = ::write(file_.number(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the disk is full: what is there is there, and the mark says the rest
    written_ += static_cast<std::uint64_t>(count);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

// What came before is still in memory as a whole.
void CallOutput::open_artifact() {
  const std::string before = capture_.head();
  std::string path = directory_ + "/output-XXXXXX";
  directory_.clear();  // once
  file_.reset(::mkostemp(path.data(), O_CLOEXEC));
  if (!file_) return;
  path_ = std::move(path);
  const ssize_t count = ::write(file_.number(), before.data(), before.size());
  written_ = count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

void CallOutput::finish(BackendOutcome& outcome, std::string_view note) {
  outcome.output_length = capture_.bytes_total();
  if (note.size() > bytes_max_) note = {};
  outcome.output = std::string(note) + capture_.render(bytes_max_ - note.size()).text;
  outcome.artifact = path_;
  file_.reset();
}

}  // namespace pawl::backend
