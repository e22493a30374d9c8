#include "pawl/charter/machine/phase_template.h"

#include <array>
#include <optional>

#include "pawl/charter/charter_vars.h"
#include "pawl/charter/machine/json_pointer.h"

namespace pawl {
namespace {

constexpr std::string_view kPhases = "phases.";
constexpr std::string_view kVars = "vars.";
constexpr std::string_view kOutput = ".output";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

TemplateUse output_use(std::string_view text) {
  TemplateUse use{TemplateUse::Kind::output};
  const std::string_view rest = text.substr(kPhases.size());
  const std::size_t dot = rest.find('.');
  const bool output = dot != std::string_view::npos && rest.substr(dot).starts_with(kOutput);
  const std::string_view pointer = output ? rest.substr(dot + kOutput.size()) : "x";
  if (!pointer_fault(pointer).empty()) return {TemplateUse::Kind::wrong, std::string(text)};
  use.name = rest.substr(0, dot);
  use.pointer = pointer;
  return use;
}

std::optional<TemplateUse> use_of(std::string_view text) {
  if (text == "input") return TemplateUse{TemplateUse::Kind::input};
  if (text == "item") return TemplateUse{TemplateUse::Kind::item};
  if (text.starts_with(kPhases)) return output_use(text);
  const bool spelled = text.starts_with(kVars);
  const std::string_view name = spelled ? text.substr(kVars.size()) : text;
  if (is_variable_name(name)) return TemplateUse{TemplateUse::Kind::variable, std::string(name)};
  for (const std::string_view word : {"input", "item", "vars", "phases"}) {
    const bool meant = text.starts_with(word) && text.size() > word.size() &&
                       (text[word.size()] == '.' || text[word.size()] == '/');
    if (meant) return TemplateUse{TemplateUse::Kind::wrong, std::string(text)};
  }
  return std::nullopt;
}

}  // namespace

std::vector<TemplateUse> template_uses(std::string_view text) {
  std::vector<TemplateUse> uses;
  std::size_t at = text.find("{{");
  while (at != std::string_view::npos) {
    const std::size_t end = text.find_first_of("{}\n", at + 2);
    const bool closed = end != std::string_view::npos && text.substr(end, 2) == "}}";
    auto use = closed ? use_of(trimmed(text.substr(at + 2, end - at - 2))) : std::nullopt;
    if (use) uses.push_back(*std::move(use));
    at = text.find("{{", use ? end + 2 : at + 1);
  }
  return uses;
}

}  // namespace pawl
