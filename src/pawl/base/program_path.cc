#include "pawl/base/program_path.h"

#include <algorithm>

namespace pawl {

std::string_view find_path(const std::vector<std::string>& environment) {
  constexpr std::string_view kVariable = "PATH=";
  for (const std::string& variable : environment) {
    if (variable.starts_with(kVariable)) return std::string_view(variable).substr(kVariable.size());
  }
  return {};
}

std::vector<std::string> program_candidates(std::string_view name, std::string_view path) {
  if (name.find('/') != std::string_view::npos) return {std::string(name)};
  std::vector<std::string> candidates;
  while (!path.empty() && candidates.size() < kPathEntriesMax) {
    const std::string_view entry = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), entry.size() + 1));
    if (entry.empty()) continue;
    candidates.emplace_back(entry).append("/").append(name);
  }
  return candidates;
}

std::vector<const char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace pawl
