// Names in a charter: what may be one, and which there are.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"

namespace pawl {

// Lower case letters, digits, '_' and '-', the first a letter or digit: charters, nodes, packs,
// phases and agents.
bool is_charter_name(std::string_view text);
// A fault unless it is one. `key` says what is named: "name of a node".
void check_charter_name(MapReader& reader, Mark mark, std::string_view key, std::string_view text);
// Names that become part of a tool's name: transitions, workers, children, commands.
void check_entry_name(MapReader& reader, Mark mark, std::string_view key, std::string_view text);
// A fault when the text under `key` has more bytes.
void check_bytes(MapReader& reader, const Node* at, std::string_view key, std::size_t bytes_max);

class NameSet {
 public:
  void add(std::string_view name) { names_.emplace(name); }
  // The keys of a map, or nothing.
  void add_keys(const Node* map);
  bool contains(std::string_view name) const { return names_.contains(name); }
  bool empty() const { return names_.empty(); }
  const std::set<std::string, std::less<>>& all() const { return names_; }
  // "did you mean ...?", or the names when there are few; what to write instead of `word`.
  std::string remedy(std::string_view word) const;

 private:
  std::set<std::string, std::less<>> names_;
};

// The text of `node` where it is one of `names`; otherwise a fault ("there is no node \"x\"").
bool take_known(MapReader& reader, const Node& node, std::string_view what, const NameSet& names,
                std::string& out);

}  // namespace pawl
