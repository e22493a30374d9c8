// The output of one call: its ends in memory, and all of it in a file where it is too long.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/adapter/backend/command/output_capture.h"
#include "pawl/adapter/backend/session/kept_output.h"
#include "pawl/base/descriptor.h"
#include "pawl/port/backend.h"
#include "pawl/port/byte_filter.h"

namespace pawl::backend {

class CallOutput {
 public:
  // What is longer than `bytes_max` passes the filter, before it is cut or kept; what is not longer
  // is filtered by whoever takes it.
  CallOutput(std::uint64_t bytes_max, std::string artifact_directory, KeptBounds bounds,
             std::shared_ptr<const ByteFilter> filter = nullptr);
  CallOutput(const CallOutput&) = delete;
  CallOutput& operator=(const CallOutput&) = delete;

  void append(std::string_view bytes);
  // Writes output, length and artifact into the outcome. `note` comes first in the text, and then,
  // where less than the whole is kept, how much and why.
  void finish(BackendOutcome& outcome, std::string_view note);

 private:
  void overflow();
  void open_artifact();
  void take(std::string_view bytes);
  void keep(std::string_view bytes);
  std::string describe_cut() const;

  enum class Stage : std::uint8_t { fits, too_long } stage_ = Stage::fits;
  std::uint64_t bytes_max_;
  std::string directory_;
  std::shared_ptr<const ByteFilter> filter_;
  std::unique_ptr<ByteStream> stream_;  // once the output is longer
  tool_command::OutputCapture capture_;
  KeptSpace space_;
  Descriptor file_;
  std::string path_;
  std::uint64_t written_ = 0;
};

}  // namespace pawl::backend
