// What a host's code throws, as values and in words.
#pragma once

#include <exception>
#include <string>

#include "pawl/result.h"

namespace pawl {

// For use inside a catch clause.
inline std::string what_was_thrown() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    return thrown.what();
  } catch (...) {  // A host may throw anything.
    return "an exception that is no std::exception";
  }
}

// Runs `work`; what it throws becomes unavailable, with `what` in front.
template <class Work>
auto guarded(const char* what, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& thrown) {
    return Error{ErrorCode::unavailable, std::string(what) + " threw: " + thrown.what()};
  } catch (...) {  // A host may throw anything.
    return Error{ErrorCode::unavailable, std::string(what) + " threw"};
  }
}

}  // namespace pawl
