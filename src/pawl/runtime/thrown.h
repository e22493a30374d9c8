// What is being thrown, in words: for use inside a catch clause.
#pragma once

#include <exception>
#include <string>

namespace pawl {

inline std::string what_was_thrown() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    return thrown.what();
  } catch (...) {  // A host may throw anything.
    return "an exception that is no std::exception";
  }
}

}  // namespace pawl
