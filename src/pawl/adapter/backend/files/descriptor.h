// Owns one file descriptor.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "pawl/base/result.h"

namespace pawl::backend {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  // The caller closes it.
  int release() { return std::exchange(number_, -1); }

 private:
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

  int number_ = -1;
};

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
  return {code, what + ": " + std::generic_category().message(number)};
}

}  // namespace pawl::backend
