// The output of one call: its ends in memory, and all of it in a file where it is too long.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/adapter/backend/command/output_capture.h"
#include "pawl/base/descriptor.h"
#include "pawl/port/backend.h"

namespace pawl::backend {

inline constexpr std::uint64_t kArtifactBytesMax = std::uint64_t{256} << 20U;

class CallOutput {
 public:
  CallOutput(std::uint64_t bytes_max, std::string artifact_directory);
  CallOutput(const CallOutput&) = delete;
  CallOutput& operator=(const CallOutput&) = delete;

  void append(std::string_view bytes);
  // Writes output, length and artifact into the outcome. `note` comes first in the text.
  void finish(BackendOutcome& outcome, std::string_view note);

 private:
  void open_artifact();

  std::uint64_t bytes_max_;
  std::string directory_;
  tool_command::OutputCapture capture_;
  Descriptor file_;
  std::string path_;
  std::uint64_t written_ = 0;
};

}  // namespace pawl::backend
