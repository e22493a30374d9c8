#include "pawl/result.h"

#include <cstdio>
#include <cstdlib>

#include "pawl/base/sanitizer.h"

#if PAWL_HAS_ASAN
// clang's reports show registers, and one of them may hold a part of a key.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "dump_registers=0";
}
#endif

namespace pawl {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  // Only the condition's source text is printed: values could be secrets.
  std::fprintf(stderr, "pawl: assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace pawl
