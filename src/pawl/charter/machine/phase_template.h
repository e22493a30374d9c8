// The templates of a flow's prompts: {{input}}, {{vars.x}} and {{x}}, {{phases.NAME.output}},
// {{phases.NAME.output/POINTER}}, {{item}}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

struct TemplateUse {
  enum class Kind : std::uint8_t { input, item, variable, output, wrong } kind = Kind::wrong;
  std::string name = {};     // of the variable or the phase; the whole text of one that is wrong
  std::string pointer = {};  // into the output; empty: all of it

  friend bool operator==(const TemplateUse&, const TemplateUse&) = default;
};

// In their order. Braces around anything that looks like none of these are text.
std::vector<TemplateUse> template_uses(std::string_view text);

}  // namespace pawl
