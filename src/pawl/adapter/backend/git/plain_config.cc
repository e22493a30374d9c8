#include "pawl/adapter/backend/git/plain_config.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "pawl/adapter/backend/git/repository.h"
#include "pawl/base/bare_repository.h"
#include "pawl/base/files.h"
#include "pawl/base/path_text.h"

namespace pawl {
namespace {

// Sections whose every setting starts nothing when only files are read.
constexpr std::array<std::string_view, 10> kPlainSections = {
    "advice", "branch", "clone", "color", "column", "fetch", "init", "pull", "rebase", "user"};
constexpr std::array<std::string_view, 17> kPlainSettings = {"core.autocrlf",
                                                             "core.bare",
                                                             "core.eol",
                                                             "core.filemode",
                                                             "core.ignorecase",
                                                             "core.logallrefupdates",
                                                             "core.precomposeunicode",
                                                             "core.repositoryformatversion",
                                                             "core.safecrlf",
                                                             "core.symlinks",
                                                             "core.quotepath",
                                                             "remote.fetch",
                                                             "remote.prune",
                                                             "remote.pushurl",
                                                             "remote.tagopt",
                                                             "remote.url",
                                                             "push.default"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& one : small) {
    if (one >= 'A' && one <= 'Z') one = static_cast<char>(one - 'A' + 'a');
  }
  return small;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool is_name(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char one) {
    return (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') || one == '-';
  });
}

// "[remote "origin"]" is remote. What stands behind the bracket is not read: then it is no name.
std::string section_of(std::string_view line) {
  if (line.back() != ']') return "?";
  std::string_view inner = line.substr(1, line.size() - 2);
  const std::size_t quote = inner.find('"');
  if (quote != std::string_view::npos) {
    const bool closed = inner.size() > quote + 1 && inner.back() == '"';
    const std::string_view of = inner.substr(quote + 1, inner.size() - quote - 2);
    if (!closed || of.find_first_of("\"\\") != std::string_view::npos) return "?";
    inner = trimmed(inner.substr(0, quote));
  }
  const std::string name = lower(inner);
  return is_name(name) ? name : "?";
}

}  // namespace

std::optional<std::string> unplain_setting(std::string_view config) {
  std::string section;
  while (!config.empty()) {
    const std::size_t end = std::min(config.find('\n'), config.size());
    const std::string_view line = trimmed(config.substr(0, end));
    config.remove_prefix(std::min(end + 1, config.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      section = section_of(line);
      if (section == "?") return std::string(line);
      continue;
    }
    const std::string key = lower(trimmed(line.substr(0, line.find('='))));
    const std::string setting = section + "." + key;
    // A value that goes on in the next line makes a setting of what looks like one.
    const bool plain = line.back() != '\\' && is_name(key) &&
                       (is_among(kPlainSections, section) || is_among(kPlainSettings, setting));
    if (!plain) return setting;
  }
  return std::nullopt;
}

namespace {

namespace fs = std::filesystem;

// Absent, or empty as what a sandbox puts in its place for as long as it lives.
bool says_nothing(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::not_found) return true;
  const bool can_be_empty = type == fs::file_type::regular || type == fs::file_type::directory;
  return can_be_empty && fs::is_empty(path, error) && !error;
}

std::optional<std::string> objection_to(const fs::path& git) {
  for (const char* other : {"commondir", "config.worktree", "modules"}) {
    if (!says_nothing(git / other)) return std::string(".git/") + other + " is there";
  }
  if (says_nothing(git / "config")) return std::nullopt;
  const auto config = read_regular_file((git / "config").string(), kGitConfigBytesMax);
  if (!config) return ".git/config cannot be read";
  const auto setting = unplain_setting(*config);
  return setting ? std::optional(".git/config sets " + *setting) : std::nullopt;
}

// A directory that a tool has filled can be one, too, with a configuration of the tool's.
bool is_bare(const fs::path& path) {
  const Descriptor directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return directory ? is_bare_repository(directory.number()) : errno != ENOENT;
}

}  // namespace

std::optional<std::string> git_objection(const std::string& directory,
                                         const std::vector<std::string>& held_roots) {
  const auto is_held = [&](const std::string& work_tree) {
    const auto holds = [&](const std::string& root) { return is_within(work_tree, root); };
    if (std::ranges::none_of(held_roots, holds)) return false;
    const auto found = git::describe_repository(work_tree, held_roots);
    return found && found->obstacle.empty();
  };
  for (fs::path at(directory);; at = at.parent_path()) {
    std::error_code error;
    const fs::file_type type = fs::symlink_status(at / ".git", error).type();
    const bool nothing = type == fs::file_type::not_found;
    if (!nothing && is_held(at.string())) return std::nullopt;
    if (!nothing && type != fs::file_type::directory) return ".git is not a directory";
    // Without a HEAD it is none, and git looks further up.
    const bool found =
        !nothing && fs::symlink_status(at / ".git/HEAD", error).type() != fs::file_type::not_found;
    if (found) return objection_to(at / ".git");
    if (is_bare(at)) return at.filename().string() + " is a bare repository";
    if (!at.has_relative_path()) return std::nullopt;
  }
}

}  // namespace pawl
