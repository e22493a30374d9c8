#include "pawl/tools/common/common_tool.h"

namespace pawl {

Error wrong_argument(std::string_view name, std::string_view what) {
  return {ErrorCode::invalid_argument, std::string(name) + ": " + std::string(what)};
}

Result<std::string> ToolArguments::text(std::string_view name) const {
  if (const std::string* value = input_.find_string(name)) return *value;
  return wrong_argument(name, "a string is needed");
}

Result<std::string> ToolArguments::text_or(std::string_view name,
                                           std::string_view otherwise) const {
  return input_.find(name) == nullptr ? Result<std::string>(std::string(otherwise)) : text(name);
}

Result<std::optional<std::int64_t>> ToolArguments::integer(std::string_view name,
                                                           std::int64_t least) const {
  const Json* const value = input_.find(name);
  if (value == nullptr) return std::optional<std::int64_t>();
  const auto number = value->as_int64();
  if (!number || *number < least) {
    return wrong_argument(name, "an integer of " + std::to_string(least) + " or more is needed");
  }
  return number;
}

Result<bool> ToolArguments::flag(std::string_view name) const {
  const Json* const value = input_.find(name);
  if (value == nullptr) return false;
  if (!value->is_boolean()) return wrong_argument(name, "true or false is needed");
  return value->boolean();
}

Result<std::vector<std::string>> ToolArguments::words(std::string_view name) const {
  const Json* const value = input_.find(name);
  const JsonArray* const list = value == nullptr ? nullptr : value->if_array();
  if (list == nullptr || list->empty()) return wrong_argument(name, "a list of strings is needed");
  std::vector<std::string> words;
  for (const Json& word : *list) {
    if (!word.is_string()) return wrong_argument(name, "a list of strings is needed");
    if (word.string().find('\0') != std::string::npos) {
      return wrong_argument(name, "a NUL is in it");
    }
    words.push_back(word.string());
  }
  return words;
}

}  // namespace pawl
