#include "pawl/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace pawl {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  // Only the condition's source text is printed: values could be secrets.
  std::fprintf(stderr, "pawl: assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace pawl
