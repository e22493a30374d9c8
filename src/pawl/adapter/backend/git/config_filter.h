// The part of a git configuration that starts no program and tells no secret.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::git {

inline constexpr std::size_t kConfigSettingsMax = 4096;
inline constexpr std::size_t kConfigValueBytesMax = 4096;

struct Setting {
  std::string name;  // "remote.origin.url": section and key in small letters
  std::string value;

  friend bool operator==(const Setting&, const Setting&) = default;
};

// The output of `git config --list -z`, as far as it is harmless: of URLs without what stands for a
// user in them. Later settings come later.
std::vector<Setting> harmless_settings(std::string_view listed);

// As the text of a file that git reads the same settings from.
std::string config_text(const std::vector<Setting>& settings);

// Without user and password: "https://me:pw@host/x" is "https://host/x".
std::string without_credentials(std::string_view url);

}  // namespace pawl::git
