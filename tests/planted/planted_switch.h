// Which planted bug this process has: the one that the environment names.
#pragma once

#include <cstdlib>
#include <string_view>

namespace pawl {

inline bool is_planted(std::string_view bug) {
  const char* wanted = std::getenv("PAWL_PLANTED");
  return wanted != nullptr && bug == wanted;
}

}  // namespace pawl
