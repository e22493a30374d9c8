#include "pawl/adapter/backend/session/call_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "pawl/base/describe_errno.h"

namespace pawl::backend {

CallOutput::CallOutput(std::uint64_t bytes_max, std::string artifact_directory, KeptBounds bounds)
    : bytes_max_(bytes_max),
      directory_(std::move(artifact_directory)),
      capture_(bytes_max),
      space_(directory_, bounds) {}

void CallOutput::append(std::string_view bytes) {
  const bool fits = capture_.bytes_total() + bytes.size() <= bytes_max_;
  if (!fits && !file_ && !directory_.empty()) open_artifact();
  capture_.append(bytes);
  if (file_) keep(bytes);
}

void CallOutput::keep(std::string_view bytes) {
  if (!space_.reason().empty()) return;
  std::string_view rest = bytes.substr(0, space_.take(bytes.size()));
  while (!rest.empty()) {
    const ssize_t count = ::write(file_.number(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return space_.close("the data disk: " + describe_errno(errno));
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
  if (!file_) return space_.close("the data disk: " + describe_errno(errno));
  path_ = std::move(path);
  keep(before);
}

std::string CallOutput::describe_cut() const {
  if (space_.reason().empty()) return "";
  return "[Of " + std::to_string(capture_.bytes_total()) + " bytes of output the first " +
         std::to_string(written_) + " are kept: " + space_.reason() + ".]\n";
}

void CallOutput::finish(BackendOutcome& outcome, std::string_view note) {
  outcome.output_length = capture_.bytes_total();
  std::string before = std::string(note) + describe_cut();
  if (before.size() > bytes_max_) before.clear();
  outcome.output = before + capture_.render(bytes_max_ - before.size()).text;
  file_.reset();
  if (written_ == 0 && !path_.empty()) ::unlink(std::exchange(path_, {}).c_str());
  outcome.artifact = path_;
}

}  // namespace pawl::backend
