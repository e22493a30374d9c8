#include "pawl/adapter/provider/common/tool_names.h"

#include <algorithm>

#include "pawl/ids.h"

namespace pawl::provider {
namespace {

constexpr std::size_t kMarkBytes = 8;  // of the digest that keeps changed names apart

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

std::string wire_tool_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= kWireToolNameBytesMax &&
                    std::all_of(name.begin(), name.end(), is_plain);
  if (fits) return std::string(name);
  std::string changed(name.substr(0, kWireToolNameBytesMax - kMarkBytes - 1));
  std::replace_if(changed.begin(), changed.end(), [](char c) { return !is_plain(c); }, '_');
  return changed + "_" + to_hex(sha256(name)).substr(0, kMarkBytes);
}

WireToolNames::WireToolNames(const std::vector<ToolSpec>& tools) {
  for (const ToolSpec& tool : tools) {
    std::string wire = wire_tool_name(tool.name);
    if (wire != tool.name) originals_.emplace(std::move(wire), tool.name);
  }
}

std::string WireToolNames::original(std::string_view wire_name) const {
  const auto found = originals_.find(wire_name);
  return found != originals_.end() ? found->second : std::string(wire_name);
}

}  // namespace pawl::provider
