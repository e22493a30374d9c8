// A model as people are told of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/limits.h"

namespace pawl {

// A model that could be asked, or could not yet.
struct ModelRow {
  std::string id;                    // "provider/model"
  std::uint64_t context_tokens = 0;  // 0: not known; so is the next
  std::uint64_t output_tokens = 0;
  Prices prices;                          // of a token
  std::vector<std::string> capabilities;  // "thinking", "images", …
  std::vector<std::string> names;         // aliases and tiers that lead to it
  std::string missing;                    // "set OPENAI_API_KEY"; empty: it can be asked
};

}  // namespace pawl
