// Seeds for the readers of journals, made from the golden journals: always in today's format, and
// nothing that has to be kept beside them.
#pragma once

#include <string>
#include <vector>

namespace pawl::fuzz {

struct Seed {
  std::string target;
  std::string name;
  std::string bytes;
};

// `directory` holds golden journals: a line of hexadecimal digits a record.
std::vector<Seed> seeds_from(const std::string& directory);

}  // namespace pawl::fuzz
