// BackendOutcomes of file tools.
#pragma once

#include <string>
#include <utility>

#include "pawl/backend.h"
#include "pawl/base/utf8.h"

namespace pawl::backend {

inline BackendOutcome file_outcome(BackendOutcome::Kind kind, std::string text) {
  BackendOutcome outcome;
  outcome.kind = kind;
  outcome.output = is_valid_utf8(text) ? std::move(text) : to_valid_utf8(text);
  outcome.output_length = outcome.output.size();
  outcome.level = IsolationLevel::native;  // the host itself does it, whatever the session runs on
  return outcome;
}

inline BackendOutcome file_failure(std::string text) {
  return file_outcome(BackendOutcome::Kind::failed, std::move(text));
}

inline BackendOutcome file_success(std::string text) {
  return file_outcome(BackendOutcome::Kind::ok, std::move(text));
}

}  // namespace pawl::backend
