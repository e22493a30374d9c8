// The newest of what a store holds, by numbers that only rise.
#pragma once

#include <cstdint>

namespace pawl::sqlite {

struct Newest {
  std::int64_t generation = 0;  // of table placed: it rises when rows of table journal are deleted
  std::int64_t row = 0;         // of table journal, in this generation; 0: not known
  std::uint64_t chain = 0;      // the first 8 bytes of that row's chain
  std::int64_t message = 0;     // of table inbox
  std::int64_t logs = 0;        // of table store

  friend bool operator==(const Newest&, const Newest&) = default;
};

// What is newer of each.
Newest newer_of(const Newest& a, const Newest& b);

}  // namespace pawl::sqlite
