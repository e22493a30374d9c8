#include "pawl/kernel/phase_template.h"

#include <algorithm>
#include <array>
#include <optional>

namespace pawl {
namespace {

constexpr std::string_view kPhases = "phases.";
constexpr std::string_view kVars = "vars.";
constexpr std::string_view kOutput = ".output";

bool is_word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// As RFC 6901 has them.
bool is_pointer(std::string_view text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1)) {
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    if (next != '0' && next != '1') return false;
  }
  return true;
}

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
  if (!is_pointer(pointer)) return {TemplateUse::Kind::wrong, std::string(text)};
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

// A use, and the bytes from '{{' to '}}'.
struct Place {
  TemplateUse use;
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::optional<Place> next_place(std::string_view text, std::size_t from) {
  std::size_t at = text.find("{{", from);
  while (at != std::string_view::npos) {
    const std::size_t end = text.find_first_of("{}\n", at + 2);
    const bool closed = end != std::string_view::npos && text.substr(end, 2) == "}}";
    auto use = closed ? use_of(trimmed(text.substr(at + 2, end - at - 2))) : std::nullopt;
    if (use) return Place{*std::move(use), at, end + 2};
    at = text.find("{{", at + 1);
  }
  return std::nullopt;
}

}  // namespace

bool is_variable_name(std::string_view text) {
  const auto fits = [](char c) { return is_word_letter(c) || c == '-' || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kVariableNameBytesMax && is_word_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), fits);
}

std::vector<TemplateUse> template_uses(std::string_view text) {
  std::vector<TemplateUse> uses;
  for (auto place = next_place(text, 0); place; place = next_place(text, place->end)) {
    uses.push_back(place->use);
  }
  return uses;
}

Result<std::string> fill_template(std::string_view text, std::size_t bytes_max,
                                  const std::function<std::string(const TemplateUse&)>& value_of) {
  std::string filled;
  std::size_t from = 0;
  const auto fits = [&filled, bytes_max] { return filled.size() <= bytes_max; };
  for (auto place = next_place(text, 0); place && fits(); place = next_place(text, from)) {
    filled.append(text.substr(from, place->begin - from)).append(value_of(place->use));
    from = place->end;
  }
  filled.append(text.substr(from));
  if (fits()) return filled;
  return Error{ErrorCode::limit_exceeded,
               "the prompt with its values has more than " + std::to_string(bytes_max) + " bytes"};
}

}  // namespace pawl
