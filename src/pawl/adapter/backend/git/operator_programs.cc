#include "pawl/adapter/backend/git/operator_programs.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

#include "pawl/base/path_text.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileOrigin = "file:";
constexpr std::string_view kHooksPath = "core.hookspath";
// Their values are names and addresses, and no programs.
constexpr std::array<std::string_view, 7> kNoPrograms = {"branch.",    "remote.", "url.", "safe.",
                                                         "submodule.", "user.",   "i18n."};

std::string_view take_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

bool is_file(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

class Programs {
 public:
  Programs(const std::string& work_tree, const std::vector<std::string>& roots)
      : work_tree_(work_tree), roots_(roots) {}

  void add_origin(std::string_view origin) { add(path_of(origin)); }

  // Relative to the file that says it.
  void add_include(std::string_view origin, std::string_view value) {
    add((fs::path(path_of(origin)).parent_path() / value).lexically_normal().string());
  }

  // Hook managers keep what they generate in a directory `_` beside the hooks themselves.
  void add_hooks(std::string_view value) {
    fs::path path = at(value);
    if (!path.has_filename()) path = path.parent_path();
    add(path.filename() == "_" ? path.parent_path().string() : path.string());
  }

  // A shell's words; what is none of them is no file either.
  void add_words(std::string_view value) {
    std::string text(value);
    std::ranges::replace_if(
        text,
        [](char one) {
          return std::string_view("'\"!;&|()=`").find(one) != std::string_view::npos;
        },
        ' ');
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (const std::string path = at(word); is_file(path)) add(path);
    }
  }

  Result<std::vector<std::string>> found() const {
    if (found_.size() <= kOperatorProgramsMax) {
      return std::vector<std::string>(found_.begin(), found_.end());
    }
    return Error{ErrorCode::limit_exceeded,
                 "the git settings of " + work_tree_ + " name more than " +
                     std::to_string(kOperatorProgramsMax) +
                     " files of the work tree, too many to keep commands from writing all of them"};
  }

 private:
  std::string path_of(std::string_view origin) const {
    return origin.starts_with(kFileOrigin) ? at(origin.substr(kFileOrigin.size())) : "";
  }

  std::string at(std::string_view path) const {
    return (fs::path(work_tree_) / path).lexically_normal().string();
  }

  void add(const std::string& path) {
    const bool within = std::ranges::any_of(
        roots_, [&](const std::string& root) { return is_beneath(path, root); });
    const bool of_git = (path + "/").find("/.git/") != std::string::npos;
    if (within && !of_git && found_.size() <= kOperatorProgramsMax) found_.insert(path);
  }

  const std::string& work_tree_;
  const std::vector<std::string>& roots_;
  std::set<std::string> found_;
};

}  // namespace

Result<std::vector<std::string>> operator_programs(std::string_view listed,
                                                   const std::string& work_tree,
                                                   const std::vector<std::string>& roots) {
  Programs programs(work_tree, roots);
  while (!listed.empty()) {
    const std::string_view origin = take_part(listed);
    programs.add_origin(origin);
    const std::string_view setting = take_part(listed);
    const std::size_t line = setting.find('\n');
    if (line == std::string_view::npos) continue;
    const std::string_view key = setting.substr(0, line);
    const std::string_view value = setting.substr(line + 1);
    const auto is_section = [&](std::string_view section) { return key.starts_with(section); };
    if (key.starts_with("include") && key.ends_with(".path")) {
      programs.add_include(origin, value);
    } else if (key == kHooksPath) {
      programs.add_hooks(value);
    } else if (std::ranges::none_of(kNoPrograms, is_section)) {
      programs.add_words(value);
    }
  }
  return programs.found();
}

}  // namespace pawl::git
