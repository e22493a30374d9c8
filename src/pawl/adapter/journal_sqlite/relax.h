// For a thread that watches for something instead of sleeping.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <thread>
#endif

namespace pawl::sqlite {

// Leaves the processor's resources to whoever shares the core.
inline void relax() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace pawl::sqlite
