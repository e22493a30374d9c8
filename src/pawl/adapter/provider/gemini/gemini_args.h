// Arguments of a call that come in pieces, each with the path of what it adds to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/json.h"

namespace pawl::provider {

inline constexpr std::size_t kPartialPathStepsMax = 64;
inline constexpr std::size_t kPartialItemsMax = 10'000;  // of one list

// "$.a.b[0]['c d']" as its steps.
using PathStep = std::variant<std::string, std::size_t>;
Result<std::vector<PathStep>> parse_partial_path(std::string_view path);

class PartialArguments {
 public:
  // `piece` is {"jsonPath", "stringValue"|"numberValue"|"boolValue"|"nullValue"}. Texts of the same
  // path are appended to each other; lists grow by one item at a time.
  Status add(const Json& piece);
  std::string json() const { return write_json(root_); }

 private:
  Json root_ = JsonObject();
};

}  // namespace pawl::provider
