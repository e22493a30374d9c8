// An errno of the files' system calls, as an error.
#pragma once

#include <cerrno>
#include <string>

#include "pawl/base/describe_errno.h"
#include "pawl/result.h"

namespace pawl::backend {

// `what` and the system's words for an errno, with the code a caller can act on.
inline Error system_error(int number, const std::string& what) {
  ErrorCode code = ErrorCode::unavailable;
  if (number == ENOENT || number == ENOTDIR) code = ErrorCode::not_found;
  if (number == EEXIST) code = ErrorCode::conflict;
  if (number == EXDEV || number == ELOOP || number == EACCES || number == EPERM ||
      number == ENAMETOOLONG || number == EISDIR) {
    code = ErrorCode::invalid_argument;
  }
  if (number == ENOSPC || number == EDQUOT || number == EMFILE) code = ErrorCode::limit_exceeded;
  return {code, what + ": " + describe_errno(number)};
}

}  // namespace pawl::backend
