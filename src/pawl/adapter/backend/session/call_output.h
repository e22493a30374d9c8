// The output of one call: its ends in memory, and all of it in a file where it is too long.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/adapter/backend/command/output_capture.h"
#include "pawl/adapter/backend/session/kept_output.h"
#include "pawl/base/descriptor.h"
#include "pawl/port/backend.h"

namespace pawl::backend {

class CallOutput {
 public:
  CallOutput(std::uint64_t bytes_max, std::string artifact_directory, KeptBounds bounds);
  CallOutput(const CallOutput&) = delete;
  CallOutput& operator=(const CallOutput&) = delete;

  void append(std::string_view bytes);
  // Writes output, length and artifact into the outcome. `note` comes first in the text, and then,
  // where less than the whole is kept, how much and why.
  void finish(BackendOutcome& outcome, std::string_view note);

 private:
  void open_artifact();
  void keep(std::string_view bytes);
  std::string describe_cut() const;

  std::uint64_t bytes_max_;
  std::string directory_;
  tool_command::OutputCapture capture_;
  KeptSpace space_;
  Descriptor file_;
  std::string path_;
  std::uint64_t written_ = 0;
};

}  // namespace pawl::backend
