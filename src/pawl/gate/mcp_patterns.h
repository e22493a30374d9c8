// Names of tools that only MCP servers have.
#pragma once

#include "pawl/base/document.h"

namespace pawl {

inline constexpr std::string_view kMcpPrefix = "mcp__";

// Faults the patterns of a list that name tools of MCP servers, which this version has not: a rule
// that binds nothing must not look like one that does.
inline void refuse_mcp_patterns(MapReader& reader, const Node& list) {
  for (const Node& item : list.items()) {
    if (!item.text().starts_with(kMcpPrefix)) continue;
    reader.fault(item.mark(),
                 quoted(item.text()) + " names tools of an MCP server, and this version has none",
                 "remove it");
  }
}

}  // namespace pawl
