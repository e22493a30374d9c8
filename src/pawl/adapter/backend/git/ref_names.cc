#include "pawl/adapter/backend/git/ref_names.h"

#include <algorithm>
#include <array>

namespace pawl::git {
namespace {

constexpr std::size_t kObjectIdDigits = 40;

bool is_bad_byte(char one) {
  const auto byte = static_cast<unsigned char>(one);
  constexpr std::string_view kBad = " ~^:?*[\\";
  return byte < 0x20 || byte == 0x7F || kBad.find(one) != std::string_view::npos;
}

bool is_bad_part(std::string_view part) {
  return part.empty() || part.front() == '.' || part.back() == '.' || part.ends_with(".lock");
}

}  // namespace

bool is_object_id(std::string_view text) {
  return text.size() == kObjectIdDigits && std::ranges::all_of(text, [](char one) {
           return (one >= '0' && one <= '9') || (one >= 'a' && one <= 'f');
         });
}

bool is_ref_name(std::string_view name) {
  if (name.size() > kRefNameBytesMax || !name.starts_with("refs/")) return false;
  if (std::ranges::any_of(name, is_bad_byte)) return false;
  if (name.find("..") != std::string_view::npos || name.find("@{") != std::string_view::npos) {
    return false;
  }
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (is_bad_part(name.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

bool is_published(std::string_view name) {
  constexpr std::array<std::string_view, 3> kBeneath = {"refs/heads/", "refs/tags/", "refs/notes/"};
  return name == "refs/stash" || std::ranges::any_of(kBeneath, [&](std::string_view prefix) {
           return name.starts_with(prefix) && name.size() > prefix.size();
         });
}

bool is_misleading(std::string_view name, const std::function<bool(const std::string&)>& exists) {
  constexpr std::array<std::string_view, 2> kNamed = {"refs/heads/", "refs/tags/"};
  constexpr std::array<std::string_view, 5> kRoots = {"refs/", "heads/", "tags/", "remotes/",
                                                      "notes/"};
  const auto* const own = std::ranges::find_if(
      kNamed, [&](std::string_view prefix) { return name.starts_with(prefix); });
  if (own == kNamed.end()) return false;
  const std::string shown(name.substr(own->size()));
  const bool capital = shown.ends_with("HEAD") &&
                       shown.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
  const bool rooted =
      std::ranges::any_of(kRoots, [&](std::string_view root) { return shown.starts_with(root); });
  if (capital || rooted || shown.starts_with('-') || shown == "@" || shown == "stash") return true;
  const std::string remote = "refs/remotes/" + shown;
  return std::ranges::any_of(kNamed,
                             [&](std::string_view prefix) {
                               return prefix != *own && exists(std::string(prefix) + shown);
                             }) ||
         exists(remote) || exists(remote + "/HEAD");
}

}  // namespace pawl::git
