#include "pawl/port/write_guard.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "pawl/base/path_text.h"
#include "pawl/json.h"

namespace pawl {
namespace {

// Pawl's own, and those of the harnesses that have tools of their own.
constexpr std::array<std::string_view, 13> kLookingTools = {
    "view", "grep", "glob", "read_output", "ask_user", "todo",     "Read",
    "Grep", "Glob", "LS",   "TodoWrite",   "WebFetch", "read_file"};
// How keys of paths end, in one word or many: `path`, `file_path`, `filename`, `files`.
constexpr std::array<std::string_view, 10> kPathEndings = {
    "path", "paths",     "file",   "files",       "filename",
    "dir",  "directory", "folder", "destination", "target"};

bool names_path(std::string_view key) {
  std::string lower(key);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::any_of(kPathEndings,
                             [&lower](std::string_view ending) { return lower.ends_with(ending); });
}

class PathCheck {
 public:
  PathCheck(const std::vector<std::string>& roots, const std::string& directory)
      : roots_(roots), directory_(directory) {}

  // The first path that is beneath no root, or null. Json bounds how deep a value is.
  const std::string* outside(const Json& value, bool is_path) const {
    if (const std::string* text = value.if_string()) {
      return is_path && !is_inside(*text) ? text : nullptr;
    }
    if (const JsonArray* items = value.if_array()) {
      for (const Json& item : *items) {
        if (const std::string* found = outside(item, is_path)) return found;
      }
    }
    if (const JsonObject* object = value.if_object()) {
      for (const JsonMember& member : object->members()) {
        if (const std::string* found = outside(member.value, names_path(member.key))) return found;
      }
    }
    return nullptr;
  }

 private:
  bool is_inside(const std::string& path) const {
    // Whoever expands these leaves the directory.
    if (path.starts_with('~') || path.starts_with("file:")) return false;
    std::string whole = (std::filesystem::path(directory_) / path).lexically_normal().string();
    while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
    return std::ranges::any_of(
        roots_, [&whole](const std::string& root) { return is_within(whole, root); });
  }

  const std::vector<std::string>& roots_;
  const std::string& directory_;
};

}  // namespace

std::string write_objection(const std::vector<std::string>& roots, const std::string& directory,
                            const std::string& tool, const std::string& input) {
  const bool looks = std::ranges::find(kLookingTools, tool) != kLookingTools.end();
  if (looks || input.empty()) return "";
  const auto json = parse_json(input);
  if (!json) return "the arguments of " + tool + " are not JSON: " + json.error().message;
  const std::string* path = PathCheck(roots, directory).outside(*json, false);
  if (path == nullptr) return "";
  std::string list;
  for (const std::string& root : roots) list += (list.empty() ? "" : ", ") + root;
  return *path + " is outside of what " + tool +
         " may write: " + (list.empty() ? std::string("nothing") : list);
}

}  // namespace pawl
