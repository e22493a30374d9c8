#include "pawl/adapter/backend/session/call_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "pawl/base/describe_errno.h"

namespace pawl::backend {

CallOutput::CallOutput(std::uint64_t bytes_max, std::string artifact_directory, KeptBounds bounds,
                       std::shared_ptr<const ByteFilter> filter)
    : bytes_max_(bytes_max),
      directory_(std::move(artifact_directory)),
      filter_(std::move(filter)),
      capture_(bytes_max, filter_),
      space_(directory_, bounds) {}

void CallOutput::append(std::string_view bytes) {
  if (stage_ == Stage::fits && capture_.bytes_total() + bytes.size() > bytes_max_) overflow();
  if (stream_) {
    take(stream_->feed(bytes));
  } else {
    take(bytes);
  }
}

// What came before is still in memory as a whole: it begins once more, filtered, so that no value
// is cut in two where the output is, and none gets into the file.
void CallOutput::overflow() {
  stage_ = Stage::too_long;
  const std::string before = capture_.head();
  if (!directory_.empty()) open_artifact();
  capture_ = tool_command::OutputCapture(bytes_max_);
  if (filter_) stream_ = filter_->stream();
  append(before);
}

void CallOutput::take(std::string_view bytes) {
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

void CallOutput::open_artifact() {
  std::string path = directory_ + "/output-XXXXXX";
  file_.reset(::mkostemp(path.data(), O_CLOEXEC));
  if (!file_) return space_.close("the data disk: " + describe_errno(errno));
  path_ = std::move(path);
}

std::string CallOutput::describe_cut() const {
  if (space_.reason().empty()) return "";
  return "[Of " + std::to_string(capture_.bytes_total()) + " bytes of output the first " +
         std::to_string(written_) + " are kept: " + space_.reason() + ".]\n";
}

void CallOutput::finish(BackendOutcome& outcome, std::string_view note) {
  if (stream_) take(std::exchange(stream_, nullptr)->finish());
  outcome.output_length = capture_.bytes_total();
  std::string before = std::string(note) + describe_cut();
  if (before.size() > bytes_max_) before.clear();
  outcome.output = before + capture_.render(bytes_max_ - before.size()).text;
  file_.reset();
  if (written_ == 0 && !path_.empty()) ::unlink(std::exchange(path_, {}).c_str());
  outcome.artifact = path_;
}

}  // namespace pawl::backend
