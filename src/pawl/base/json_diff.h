// Where two JSON values differ.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pawl/json.h"

namespace pawl {

struct JsonDifference {
  std::string path;          // "$.blocks[0].text"
  std::optional<Json> left;  // nothing: there is no such value on this side
  std::optional<Json> right;

  friend bool operator==(const JsonDifference&, const JsonDifference&) = default;
};

// The first `count_max`, in the order of `left`. As equality of Json is that of the written text, 1
// and 1.0 differ, and so do objects whose members stand in another order. Values are as deep as the
// reader lets them be.
std::vector<JsonDifference> json_differences(const Json& left, const Json& right,
                                             std::size_t count_max);

}  // namespace pawl
