// Names of tools as every provider accepts them: [A-Za-z0-9_-]{1,64}. Pawl's own may be longer and
// hold other characters, and a model may have called anything.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/content.h"

namespace pawl::provider {

inline constexpr std::size_t kWireToolNameBytesMax = 64;

// The name itself when it fits; else one that fits and belongs to no other name.
std::string wire_tool_name(std::string_view name);

// The way back, for the tools of one request.
class WireToolNames {
 public:
  explicit WireToolNames(const std::vector<ToolSpec>& tools);
  // Pawl's name of the tool; a name that no tool has stays as it is.
  std::string original(std::string_view wire_name) const;

 private:
  std::map<std::string, std::string, std::less<>> originals_;
};

}  // namespace pawl::provider
