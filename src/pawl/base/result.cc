#include "pawl/result.h"

namespace pawl {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::limit_exceeded:
      return "limit_exceeded";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::cancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace pawl
