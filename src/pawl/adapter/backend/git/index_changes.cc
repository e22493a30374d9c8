#include "pawl/adapter/backend/git/index_changes.h"

#include <algorithm>
#include <map>
#include <set>

#include "pawl/adapter/backend/git/git_state.h"

namespace pawl::git {
namespace {

// The lines of a path: more than one where a merge has left them.
using Lines = std::map<std::string_view, std::vector<IndexEntry>, std::less<>>;

Result<Lines> lines_of(std::string_view listed) {
  Lines lines;
  while (!listed.empty()) {
    PAWL_TRY(const IndexEntry entry, take_index_entry(listed));
    lines[entry.path()].push_back(entry);
  }
  return lines;
}

bool is_same(const std::vector<IndexEntry>& left, const std::vector<IndexEntry>& right) {
  return std::ranges::equal(left, right, [](const IndexEntry& one, const IndexEntry& other) {
    return one.mode == other.mode && one.object == other.object && one.rest == other.rest;
  });
}

void remove(std::string_view path, std::string& input) {
  input += "0 " + std::string(40, '0') + "\t";
  input += path;
  input += '\0';
}

void add(const IndexEntry& entry, IndexChanges& changes) {
  changes.input += entry.mode;
  changes.input += ' ';
  changes.input += entry.object;
  changes.input += ' ';
  changes.input += entry.rest;
  changes.input += '\0';
  if (entry.mode != kGitlinkMode) changes.objects.emplace_back(entry.object);
}

}  // namespace

Result<IndexChanges> index_changes(std::string_view from, std::string_view to,
                                   const std::function<bool(std::string_view path)>& may_link) {
  PAWL_TRY(const Lines before, lines_of(from));
  PAWL_TRY(const Lines after, lines_of(to));
  IndexChanges changes;
  std::vector<const std::vector<IndexEntry>*> wanted;
  // Removals come first: a file may be in the way of a directory.
  for (const auto& [path, lines] : before) {
    if (!after.contains(path)) remove(path, changes.input);
  }
  for (const auto& [path, lines] : after) {
    const auto old = before.find(path);
    if (old != before.end() && is_same(old->second, lines)) continue;
    const bool links = std::ranges::any_of(
        lines, [](const IndexEntry& entry) { return entry.mode == kGitlinkMode; });
    if (links && !may_link(path)) {
      changes.left_out.emplace_back(path);
      continue;
    }
    if (old != before.end()) remove(path, changes.input);
    wanted.push_back(&lines);
  }
  for (const auto* lines : wanted) {
    for (const IndexEntry& entry : *lines) add(entry, changes);
  }
  return changes;
}

std::vector<std::string> gitlinks_in(std::string_view listed) {
  std::vector<std::string> paths;
  while (!listed.empty()) {
    const auto entry = take_index_entry(listed);
    if (!entry) break;
    if (entry->mode == kGitlinkMode) paths.emplace_back(entry->path());
  }
  return paths;
}

}  // namespace pawl::git
