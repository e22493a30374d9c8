// The tools that a charter defines and allows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"

namespace pawl {

inline constexpr std::size_t kToolDescriptionBytesMax = 64U << 10U;
inline constexpr std::size_t kCommandWordsMax = 256;
inline constexpr std::size_t kCommandWordBytesMax = 64U << 10U;

// Letters, digits, '_' and '-'.
bool is_tool_name(std::string_view text);

struct CharterTools {
  std::vector<CommandDeclaration> commands = {};  // in the order of the document
  std::vector<std::string> common = {};           // of Pawl's own, by name
  std::vector<std::string> left_out = {};         // defined, but not allowed
  std::vector<std::string> asked = {};            // patterns: allowed, if somebody says so
};

// The section `tools` of a charter. A tool with a fault is among the commands all the same, so that
// whoever names it is not told that it is unknown.
CharterTools read_tools(const Node& node, std::vector<Fault>& faults,
                        CharterPermissions& permissions, std::vector<Fault>& notes);

// A map of tools by name. `where` names it in messages.
std::vector<CommandDeclaration> read_definitions(const Node& node, std::vector<Fault>& faults,
                                                 const std::string& where,
                                                 std::vector<Fault>& notes);

// Leaves out the commands that the list under `key` does not name; without the key, none.
void keep_listed(MapReader& reader, std::string_view key, CharterTools& tools);

}  // namespace pawl
