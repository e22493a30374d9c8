// The variables of a charter: {{name}}, or {{vars.name}}, in its instructions.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"
#include "pawl/kernel/phase_template.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kVariablesMax = 64;
inline constexpr std::size_t kVariableBytesMax = 256U << 10U;

// The section `vars` of a charter: names and their defaults.
void read_variables(const Node& node, std::vector<Fault>& faults,
                    std::map<std::string, std::string>& out);

// The distinct names that stand in double braces, in their order. Spaces around a name are allowed;
// braces around anything that is no name are text.
std::vector<std::string> variables_used(std::string_view text);

// The instructions with every variable replaced by its given value, or else by its default. Values
// are not searched for variables again. A given variable that is not declared, one that is used and
// not declared, and a text that becomes too long are errors.
Result<std::string> render_instructions(const Charter& charter,
                                        const std::map<std::string, std::string>& given);
// The same for a text of the charter's: the instructions of a node or a pack.
Result<std::string> render_text(std::string_view text, const Charter& charter,
                                const std::map<std::string, std::string>& given);

}  // namespace pawl
