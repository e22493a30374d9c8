// PAWL_HAS_ASAN: 1 where AddressSanitizer watches this build, 0 elsewhere.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define PAWL_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // clang's way to say it
#define PAWL_HAS_ASAN 1
#endif
#endif
#ifndef PAWL_HAS_ASAN
#define PAWL_HAS_ASAN 0
#endif
