// Which model a charter runs on.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/document.h"

namespace pawl {

inline constexpr std::size_t kModelsMax = 64;
inline constexpr std::size_t kModelNameBytesMax = 64;
inline constexpr std::size_t kModelTargetBytesMax = 1024;

// Name and target; the target of an entry with a fault is empty.
using ModelTargets = std::map<std::string, std::string>;

// The section `models` of a charter.
ModelTargets read_models(const Node& node, std::vector<Fault>& faults);

// The target that `chosen`, the value of a `model` key, stands for: that of the entry with this
// name, or a target as it is. Without a choice, that of the only entry. `reader` reads the charter,
// `mark` is where a fault about a choice that is missing belongs.
std::string resolve_model(MapReader& reader, const ModelTargets& targets, const Node* chosen,
                          Mark mark);

}  // namespace pawl
