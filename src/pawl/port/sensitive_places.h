// Directories of this machine that are not an agent's to write.
#pragma once

#include <string>
#include <vector>

namespace pawl {

// Homes of people and of services.
struct SensitivePlaces {
  std::vector<std::string> homes;      // of root and of people: never a write root as a whole
  std::vector<std::string> elsewhere;  // $HOME and homes of services: never by default
};

}  // namespace pawl
