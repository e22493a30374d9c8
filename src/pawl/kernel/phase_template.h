// The templates of a flow's prompts: {{input}}, {{vars.x}} and {{x}}, {{phases.NAME.output}},
// {{phases.NAME.output/POINTER}}, {{item}}.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kVariableNameBytesMax = 64;

// A letter or '_', then letters, digits, '_' and '-'.
bool is_variable_name(std::string_view text);

struct TemplateUse {
  enum class Kind : std::uint8_t { input, item, variable, output, wrong } kind = Kind::wrong;
  std::string name = {};     // of the variable or the phase; the whole text of one that is wrong
  std::string pointer = {};  // into the output; empty: all of it

  friend bool operator==(const TemplateUse&, const TemplateUse&) = default;
};

// In their order. Braces around anything that looks like none of these are text.
std::vector<TemplateUse> template_uses(std::string_view text);

// The text with a value in the place of each use. What a value says is not searched again.
// limit_exceeded: it would have more than `bytes_max` bytes.
Result<std::string> fill_template(std::string_view text, std::size_t bytes_max,
                                  const std::function<std::string(const TemplateUse&)>& value_of);

}  // namespace pawl
