// The system's words for an errno.
#pragma once

#include <string>
#include <system_error>

namespace pawl::sqlite {

inline std::string describe_errno(int number) {
  return std::generic_category().message(number);
}

}  // namespace pawl::sqlite
