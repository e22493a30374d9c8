// What somebody found who looked at a part of this machine: for `pawl doctor`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pawl {

// One thing that was looked at.
struct Finding {
  enum class Grade : std::uint8_t { ok, warning, problem } grade = Grade::ok;
  std::string about;   // "database"
  std::string text;    // what was found
  std::string remedy;  // what helps; empty when nothing needs to
  std::vector<std::pair<std::string, std::uint64_t>> figures = {};  // the same, for programs
};

}  // namespace pawl
