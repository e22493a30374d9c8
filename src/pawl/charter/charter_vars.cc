#include "pawl/charter/charter_vars.h"

#include <algorithm>
#include <optional>

namespace pawl {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

constexpr std::string_view kPrefix = "vars.";  // {{vars.name}} is {{name}}

// A variable in a text: its name, and the bytes from '{{' to '}}'.
struct Use {
  std::string_view name;
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::optional<Use> use_at(std::string_view text, std::size_t begin) {
  const auto skip = [&text](std::size_t at, auto accepts) {
    while (at < text.size() && accepts(text[at])) ++at;
    return at;
  };
  const auto is_space = [](char c) { return c == ' '; };
  std::size_t from = skip(begin + 2, is_space);
  if (text.substr(from, kPrefix.size()) == kPrefix) from += kPrefix.size();
  const std::size_t to = skip(from, is_name_char);
  const std::size_t close = skip(to, is_space);
  const std::string_view name = text.substr(from, to - from);
  if (!is_variable_name(name) || text.substr(close, 2) != "}}") return std::nullopt;
  return Use{name, begin, close + 2};
}

std::optional<Use> next_use(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("{{", from); at != std::string_view::npos;
       at = text.find("{{", at + 1)) {
    if (const auto use = use_at(text, at)) return use;
  }
  return std::nullopt;
}

std::string names_of(const std::map<std::string, std::string>& variables) {
  std::string names;
  for (const auto& [name, value] : variables) names += (names.empty() ? "" : ", ") + name;
  return names;
}

Error undeclared(std::string_view name, const Charter& charter) {
  const std::string known = charter.variables.empty()
                                ? "the charter declares none"
                                : "declared are " + names_of(charter.variables);
  return {ErrorCode::invalid_argument,
          "the variable " + quoted(name) + " is not declared: " + known};
}

Error too_long() {
  return {ErrorCode::limit_exceeded, "the instructions with their variables are longer than " +
                                         std::to_string(kInstructionsBytesMax) + " bytes"};
}

}  // namespace

void read_variables(const Node& node, std::vector<Fault>& faults,
                    std::map<std::string, std::string>& out) {
  MapReader reader(node, faults, "vars");
  if (node.members().size() > kVariablesMax) {
    return reader.fault(node.mark(),
                        "there may be " + std::to_string(kVariablesMax) + " variables");
  }
  for (const Member& member : node.members()) {
    std::string& value = out[member.key];
    if (!is_variable_name(member.key)) {
      reader.fault(member.key_mark, quoted(member.key) + " is not a name of a variable",
                   "letters, digits, '_' and '-', at most " +
                       std::to_string(kVariableNameBytesMax) + ", the first a letter");
    }
    if (reader.take_string(member.key, value) && value.size() > kVariableBytesMax) {
      reader.fault(member.value.mark(), quoted(member.key) + " may have " +
                                            std::to_string(kVariableBytesMax) + " bytes");
    }
  }
}

std::vector<std::string> variables_used(std::string_view text) {
  std::vector<std::string> names;
  for (auto use = next_use(text, 0); use; use = next_use(text, use->end)) {
    if (std::find(names.begin(), names.end(), use->name) == names.end()) {
      names.emplace_back(use->name);
    }
  }
  return names;
}

Result<std::string> render_instructions(const Charter& charter,
                                        const std::map<std::string, std::string>& given) {
  return render_text(charter.instructions, charter, given);
}

Result<std::string> render_text(std::string_view text, const Charter& charter,
                                const std::map<std::string, std::string>& given) {
  for (const auto& [name, value] : given) {
    if (!charter.variables.contains(name)) return undeclared(name, charter);
  }
  std::string out;
  std::size_t from = 0;
  for (auto use = next_use(text, 0); use; use = next_use(text, from)) {
    const auto fallback = charter.variables.find(std::string(use->name));
    if (fallback == charter.variables.end()) return undeclared(use->name, charter);
    const auto chosen = given.find(fallback->first);
    out.append(text, from, use->begin - from);
    out += chosen == given.end() ? fallback->second : chosen->second;
    from = use->end;
    if (out.size() > kInstructionsBytesMax) return too_long();
  }
  out.append(text, from);
  if (out.size() > kInstructionsBytesMax) return too_long();
  return out;
}

}  // namespace pawl
