// Refuses keys that are reserved for a later version, so that nobody takes them for a typing error.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "pawl/base/document.h"

namespace pawl {

// `reader` reads `map`.
inline void refuse_later(MapReader& reader, const Node& map,
                         std::span<const std::string_view> later) {
  for (const Member& member : map.members()) {
    if (std::find(later.begin(), later.end(), member.key) == later.end()) continue;
    reader.take(member.key);
    reader.fault(member.key_mark, quoted(member.key) + " is not supported by this version",
                 "remove it");
  }
}

}  // namespace pawl
