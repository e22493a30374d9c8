#include "pawl/charter/machine/json_pointer.h"

namespace pawl {

std::string pointer_fault(std::string_view text) {
  if (text.size() > kPointerBytesMax) {
    return "it has more than " + std::to_string(kPointerBytesMax) + " bytes";
  }
  if (text.empty()) return "";
  if (text.front() != '/') return "it must begin with \"/\", or be empty";
  for (std::size_t at = text.find('~'); at != std::string_view::npos; at = text.find('~', at + 1)) {
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    if (next != '0' && next != '1') return "\"~\" is written ~0, and \"/\" in a name ~1";
  }
  return "";
}

std::vector<std::string> pointer_steps(std::string_view text) {
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      steps.emplace_back();
    } else if (text[i] == '~') {
      steps.back().push_back(text[++i] == '0' ? '~' : '/');
    } else {
      steps.back().push_back(text[i]);
    }
  }
  return steps;
}

}  // namespace pawl
