// PAWL_ASSERT stops the process on a bug, in release builds too: a kernel that goes on after a
// broken invariant would journal nonsense, and a journal outlives the process.
#pragma once

namespace pawl {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace pawl

#define PAWL_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::pawl::assertion_failed(#condition, __FILE__, __LINE__))
