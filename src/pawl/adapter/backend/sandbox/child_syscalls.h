// System calls for code that runs in a child on the host's memory, before it has become a command.
//
// Such code may not touch errno (it is the host thread's), allocate, or call functions of libc that
// sanitizers intercept. Each call returns what the kernel did: a negative error number on failure.
#pragma once

#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

// Clang's no_sanitize("thread") would still note each call of a function, in the state of the
// host's thread.
#if defined(__clang__)
#define PAWL_IN_CHILD __attribute__((disable_sanitizer_instrumentation))
#else
#define PAWL_IN_CHILD                                                            \
  __attribute__((no_sanitize("address"))) __attribute__((no_sanitize("thread"))) \
  __attribute__((no_sanitize("undefined")))
#endif

namespace pawl::sandbox {

PAWL_IN_CHILD inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                                      long e = 0) {
#if defined(__x86_64__)
  long result = 0;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
#else
#error "the sandbox knows the system calls of x86-64 and AArch64 only"
#endif
}

// A pointer as an argument of a system call.
PAWL_IN_CHILD inline long word(const void* pointer) {
  return static_cast<long>(reinterpret_cast<std::intptr_t>(pointer));
}

}  // namespace pawl::sandbox
