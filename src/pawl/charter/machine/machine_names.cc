#include "pawl/charter/machine/machine_names.h"

#include <algorithm>

#include "pawl/charter/charter_tools.h"

namespace pawl {
namespace {

constexpr std::size_t kNamesListedMax = 8;
// With the longest prefix, "transition_", it is a tool's name.
constexpr std::size_t kEntryNameBytesMax = 64;

bool leads(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_charter_name(std::string_view text) {
  const auto accepted = [](char c) { return leads(c) || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= kCharterNameBytesMax && leads(text.front()) &&
         std::all_of(text.begin(), text.end(), accepted);
}

void check_charter_name(MapReader& reader, Mark mark, std::string_view key, std::string_view text) {
  if (is_charter_name(text)) return;
  reader.fault(mark, quoted(text) + " is not a " + std::string(key),
               "lower case letters, digits, '_' and '-', at most " +
                   std::to_string(kCharterNameBytesMax) + ", the first a letter or digit");
}

void check_entry_name(MapReader& reader, Mark mark, std::string_view key, std::string_view text) {
  if (is_tool_name(text) && text.size() <= kEntryNameBytesMax) return;
  reader.fault(
      mark, quoted(text) + " is not a " + std::string(key),
      "letters, digits, '_' and '-', at most " + std::to_string(kEntryNameBytesMax) + " of them");
}

void check_bytes(MapReader& reader, const Node* at, std::string_view key, std::size_t bytes_max) {
  if (at == nullptr || at->text().size() <= bytes_max) return;
  reader.fault(at->mark(), quoted(key) + " has " + std::to_string(at->text().size()) +
                               " bytes and may have " + std::to_string(bytes_max));
}

void NameSet::add_keys(const Node* map) {
  if (map == nullptr) return;
  for (const Member& member : map->members()) add(member.key);
}

std::string NameSet::remedy(std::string_view word) const {
  if (names_.empty()) return "there are none";
  const std::vector<std::string> known(names_.begin(), names_.end());
  const std::string_view meant = nearest(word, known);
  if (!meant.empty()) return "did you mean " + quoted(meant) + "?";
  std::string list;
  for (std::size_t i = 0; i < known.size() && i < kNamesListedMax; ++i) {
    list += (i == 0 ? "" : ", ") + known[i];
  }
  return (known.size() > kNamesListedMax ? "among others: " : "one of ") + list;
}

bool take_known(MapReader& reader, const Node& node, std::string_view what, const NameSet& names,
                std::string& out) {
  const auto text = node.as_string();
  if (!text) {
    reader.fault(node.mark(),
                 "the name of a " + std::string(what) + " is wanted, found " + describe_kind(node));
    return false;
  }
  if (!names.contains(*text)) {
    reader.fault(node.mark(), "there is no " + std::string(what) + " " + quoted(*text),
                 names.remedy(*text));
    return false;
  }
  out = *text;
  return true;
}

}  // namespace pawl
