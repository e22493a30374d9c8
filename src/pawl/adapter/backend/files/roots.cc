#include "pawl/adapter/backend/files/roots.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <filesystem>

#include "pawl/adapter/backend/files/shown_name.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/link_free_path.h"
#include "pawl/base/path_text.h"
#include "pawl/port/protected_names.h"

namespace pawl::backend {
namespace {

constexpr int kOpenAttemptsMax = 64;  // openat2 says EAGAIN when somebody renames while it looks

Result<Descriptor> open_resolved(int directory, const std::string& name, int flags,
                                 std::uint64_t resolve) {
  open_how how{};
  const int always = (flags & O_PATH) != 0 ? O_CLOEXEC : O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  how.flags = static_cast<unsigned>(flags | always);
  how.resolve = resolve | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  int number = 0;
  for (int attempt = 0; attempt < kOpenAttemptsMax; ++attempt) {
    const auto fd = ::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how);
    if (fd >= 0) return Descriptor(static_cast<int>(fd));
    number = errno;
    if (number != EAGAIN && number != EINTR) break;
  }
  if (number == EXDEV) {
    return Error{ErrorCode::invalid_argument,
                 shown_name(name) + ": a link or a mount leads out of the root"};
  }
  if (number == ELOOP) {
    return Error{ErrorCode::invalid_argument,
                 shown_name(name) + ": a symbolic link is not followed here"};
  }
  if (number == ENXIO || number == ENODEV) {
    return Error{ErrorCode::invalid_argument, shown_name(name) + ": not a regular file"};
  }
  return system_error(number, shown_name(name));
}

// Without openat2 nothing holds a path beneath its root: better no files than that.
Status probe_openat2(int directory) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  const auto fd = ::syscall(SYS_openat2, directory, ".", &how, sizeof how);
  if (fd < 0) {
    return Error{ErrorCode::unavailable,
                 "openat2 is not available (" + describe_errno(errno) +
                     "): Linux 5.6 or later is needed, and a container's seccomp profile that "
                     "lets it through"};
  }
  ::close(static_cast<int>(fd));
  return ok();
}

bool contains_ignoring_case(std::string_view text, std::string_view lower) {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  };
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(), same) != text.end();
}

// What is refused as text, before any file is looked at: nothing here is ever decoded or expanded,
// and whoever writes such a thing means another file than the one that would be found.
Status check_text(std::string_view path) {
  const auto refuse = [&path](const std::string& why) {
    constexpr std::size_t kShownBytes = 200;
    return Error{ErrorCode::invalid_argument,
                 "path " + shown_name(path.substr(0, kShownBytes)) + ": " + why};
  };
  if (path.empty()) return refuse("it is empty");
  if (path.size() > kPathBytesMax) {
    return refuse("longer than " + std::to_string(kPathBytesMax) + " bytes");
  }
  if (path.find('\0') != std::string_view::npos) return refuse("it contains a NUL");
  if (path == "~" || path.starts_with("~/")) return refuse("~ is not expanded: write the path out");
  if (path.find("://") != std::string_view::npos || contains_ignoring_case(path, "file:/")) {
    return refuse("it is a URL: write a plain path");
  }
  for (const std::string_view encoded : {"%2e", "%2f", "%5c", "%00"}) {
    if (contains_ignoring_case(path, encoded)) return refuse("it is percent-encoded: decode it");
  }
  return ok();
}

std::string relative_to(std::string_view path, std::string_view root) {
  std::string_view rest = path.substr(root == "/" ? 0 : root.size());
  if (rest.starts_with('/')) rest.remove_prefix(1);
  return rest.empty() ? "." : std::string(rest);
}

}  // namespace

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0 && path.substr(0, end) != ".") parts.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

Result<std::string> plain_path(std::string_view absolute) {
  std::vector<std::string> kept;
  for (std::string& part : split_path(absolute)) {
    if (part != "..") {
      kept.push_back(std::move(part));
    } else if (kept.empty()) {
      return Error{ErrorCode::invalid_argument, "the path leads above /"};
    } else {
      kept.pop_back();
    }
  }
  std::string plain;
  for (const std::string& part : kept) plain += "/" + part;
  return plain.empty() ? std::string("/") : plain;
}

Status Roots::add(const std::string& path, Access access, FileRoots::Links links) {
  const auto refuse = [&path](const std::string& why) {
    return Error{ErrorCode::invalid_argument, "root " + shown_name(path) + ": " + why};
  };
  if (roots_.size() >= kRootsMax) return refuse("more than " + std::to_string(kRootsMax));
  if (!path.starts_with('/')) return refuse("not an absolute path");
  PAWL_TRY(std::string plain, plain_path(path));
  const int kind = access == Access::none ? 0 : O_DIRECTORY;
  Descriptor directory;
  if (links == FileRoots::Links::refused) {
    PAWL_TRY(directory, open_link_free(plain, O_PATH | kind));
  } else {
    directory.reset(::open(plain.c_str(), O_PATH | kind | O_CLOEXEC));
  }
  if (!directory) return system_error(errno, "root " + shown_name(path));
  if (access != Access::none) PAWL_CHECK(probe_openat2(directory.number()));
  std::error_code failure;
  std::string alias = std::filesystem::canonical(plain, failure).string();
  if (failure) alias = plain;
  roots_.push_back({std::move(plain), std::move(alias), access, std::move(directory)});
  return ok();
}

Result<Roots> Roots::open(const FileRoots& roots) {
  Roots opened;
  for (const std::string& path : roots.write_roots)
    PAWL_CHECK(opened.add(path, Access::write, roots.links));
  for (const std::string& path : roots.read_roots)
    PAWL_CHECK(opened.add(path, Access::read, roots.links));
  for (const std::string& path : roots.deny_roots)
    PAWL_CHECK(opened.add(path, Access::none, roots.links));
  if (opened.roots_.empty()) {
    return Error{ErrorCode::invalid_argument, "no root: name a directory that may be read"};
  }
  if (!roots.working_directory.starts_with('/')) {
    return Error{ErrorCode::invalid_argument, "working directory: not an absolute path"};
  }
  PAWL_TRY(opened.working_directory_, plain_path(roots.working_directory));
  if (!opened.covers(opened.working_directory_)) {
    // It may be a root that was spelled through a link.
    std::error_code failure;
    const auto really = std::filesystem::canonical(opened.working_directory_, failure);
    if (!failure && opened.covers(really.string())) opened.working_directory_ = really.string();
  }
  opened.protected_names_ = names_from(roots.protected_names);
  opened.hidden_names_ = names_from(roots.hidden_names);
  opened.protected_places_ = roots.protected_places;
  for (const auto* names : {&opened.protected_names_, &opened.hidden_names_}) {
    for (const Name& name : *names) {
      if (!name.in_places) opened.last_parts_.insert(name.parts.back());
    }
  }
  return opened;
}

std::vector<Roots::Name> Roots::names_from(const std::vector<std::string>& names) {
  std::vector<Name> parsed;
  for (const std::string& name : names) {
    std::vector<std::string> parts = split_path(name);
    if (!parts.empty()) parsed.push_back({std::move(parts), reach_of(name) == NameReach::places});
  }
  return parsed;
}

bool Roots::covers(const std::string& path) const {
  return std::any_of(roots_.begin(), roots_.end(), [&path](const Root& root) {
    return is_within(path, root.path) || is_within(path, root.alias);
  });
}

// The longest root that the path lies beneath; of several for one place, the last one counts.
Roots::Best Roots::best_of(const std::string& plain) const {
  Best best;
  std::size_t length = 0;
  for (const Root& root : roots_) {
    for (const std::string& prefix : {root.path, root.alias}) {
      if (!is_within(plain, prefix) || prefix.size() < length) continue;
      // Of a root that may be written and read, the first counts.
      if (prefix.size() == length && root.access == Access::read) continue;
      best = {&root, relative_to(plain, prefix)};
      length = prefix.size();
    }
  }
  return best;
}

// Whether the first `count` parts lead from the root to the working directory, or on the way there.
bool Roots::is_place(const Root& root, const std::vector<std::string>& parts,
                     std::size_t count) const {
  if (count == 0) return true;
  if (!is_within(working_directory_, root.path)) return false;
  const std::vector<std::string> way = split_path(relative_to(working_directory_, root.path));
  return count <= way.size() &&
         std::equal(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(count), parts.begin());
}

bool Roots::has_name(const std::vector<Name>& names, const Best& place, Part part) const {
  const std::vector<std::string> parts = split_path(place.below);
  for (const Name& name : names) {
    for (std::size_t at = 0; at < parts.size(); ++at) {
      const std::size_t length = std::min(name.parts.size(), parts.size() - at);
      if (part == Part::whole && length < name.parts.size()) break;
      const auto end = name.parts.begin() + static_cast<std::ptrdiff_t>(length);
      if (!std::equal(name.parts.begin(), end, parts.begin() + static_cast<std::ptrdiff_t>(at))) {
        continue;
      }
      if (!name.in_places || is_place(*place.root, parts, at)) return true;
    }
  }
  return false;
}

// What stands on the way to a protected name must not become a file either, or the name could never
// be what it should be.
bool Roots::is_protected(const Best& place, const std::string& plain) const {
  const auto holds = [&plain](const std::string& path) { return is_within(plain, path); };
  return has_name(protected_names_, place, Part::beginning) ||
         has_name(hidden_names_, place, Part::beginning) ||
         std::ranges::any_of(protected_places_, holds);
}

bool Roots::is_hidden(const std::string& absolute) const {
  const Best best = best_of(absolute);
  if (best.root == nullptr) return false;
  return best.root->access == Access::none || has_name(hidden_names_, best, Part::whole);
}

bool Roots::is_name(const std::string& absolute) const {
  const Best best = best_of(absolute);
  if (best.root == nullptr || best.root->access != Access::write) return false;
  const std::vector<std::string> parts = split_path(best.below);
  const auto ends = [&parts](const Name& name) {
    return !name.in_places && name.parts.front() != ".git" && name.parts.size() <= parts.size() &&
           std::equal(name.parts.rbegin(), name.parts.rend(), parts.rbegin());
  };
  return std::ranges::any_of(protected_names_, ends) || std::ranges::any_of(hidden_names_, ends);
}

std::string Roots::outside(std::string_view path, Access access) const {
  std::string text = shown_name(path) + " is outside the roots; ";
  text += access == Access::write ? "files may be written beneath" : "files may be read beneath";
  for (const Root& root : roots_) {
    if (access == Access::read || root.access == Access::write) text += " " + shown_name(root.path);
  }
  return text + "; relative paths begin in " + shown_name(working_directory_);
}

std::string Roots::shown_path(const std::string& absolute) const {
  return is_within(absolute, working_directory_) ? relative_to(absolute, working_directory_)
                                                 : absolute;
}

Result<Place> Roots::place(std::string_view path, Access access) const {
  PAWL_CHECK(check_text(path));
  const bool relative = !path.starts_with('/');
  const auto plain =
      plain_path(relative ? working_directory_ + "/" + std::string(path) : std::string(path));
  const Error refused{ErrorCode::invalid_argument, outside(path, access)};
  if (!plain) return refused;
  Best best = best_of(*plain);
  if (best.root == nullptr || (access == Access::write && best.root->access == Access::read)) {
    return refused;
  }
  if (best.root->access == Access::none) {
    return Error{
        ErrorCode::invalid_argument,
        shown_name(path) + " is denied by the charter: it may be neither read nor written"};
  }
  if (has_name(hidden_names_, best, Part::whole)) {
    return Error{ErrorCode::invalid_argument,
                 shown_name(path) + " holds credentials: no tool may read or write it"};
  }
  if (access == Access::write && is_protected(best, *plain)) {
    return Error{ErrorCode::invalid_argument,
                 shown_name(path) + " is a protected name: it may be read, never written"};
  }
  std::string absolute = best.root->path == "/" ? "" : best.root->path;
  if (best.below != ".") absolute += "/" + best.below;
  if (absolute.empty()) absolute = "/";
  std::string written = shown_path(absolute);
  return Place{best.root->directory.number(), std::move(best.below), std::move(absolute),
               std::move(written), this};
}

Place Roots::beneath(const Place& directory, std::string_view name) {
  const auto join = [&name](const std::string& front) {
    if (front == ".") return std::string(name);
    return front + (front == "/" ? "" : "/") + std::string(name);
  };
  return {directory.root, join(directory.relative), join(directory.absolute), join(directory.path),
          directory.of};
}

std::vector<Place> Roots::write_places() const {
  std::vector<Place> places;
  for (const Root& root : roots_) {
    if (root.access != Access::write) continue;
    places.push_back({root.directory.number(), ".", root.path, shown_path(root.path)});
  }
  return places;
}

Result<Descriptor> open_place(const Place& place, int flags, Links links) {
  PAWL_TRY(Descriptor opened, open_resolved(place.root, place.relative, flags,
                                            links == Links::refused ? RESOLVE_NO_SYMLINKS : 0));
  if (place.of == nullptr || links == Links::refused) return opened;
  std::error_code failure;
  const auto really =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(opened.number()), failure);
  if (failure || place.of->is_hidden(really.string())) {
    return Error{ErrorCode::invalid_argument,
                 shown_name(place.path) + " leads to something that no tool may read"};
  }
  return opened;
}

Result<Descriptor> open_child(int directory, const std::string& name, int flags) {
  return open_resolved(directory, name, flags, RESOLVE_NO_SYMLINKS);
}

}  // namespace pawl::backend
