#include "pawl/adapter/backend/git/config_filter.h"

#include <algorithm>
#include <array>

namespace pawl::git {
namespace {

// Section and key; what stands between them is a name of the user's. None of them names a program,
// a file that is read as configuration, or a place where git writes.
constexpr std::array<std::string_view, 58> kHarmless = {
    "branch.autosetupmerge",
    "branch.autosetuprebase",
    "branch.description",
    "branch.merge",
    "branch.pushremote",
    "branch.rebase",
    "branch.remote",
    "branch.sort",
    "checkout.defaultremote",
    "checkout.guess",
    "column.ui",
    "commit.cleanup",
    "commit.status",
    "commit.verbose",
    "core.abbrev",
    "core.autocrlf",
    "core.bigfilethreshold",
    "core.commentchar",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.safecrlf",
    "core.symlinks",
    "core.whitespace",
    "diff.algorithm",
    "diff.colormoved",
    "diff.context",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.renamelimit",
    "diff.renames",
    "fetch.prune",
    "i18n.commitencoding",
    "init.defaultbranch",
    "log.date",
    "merge.conflictstyle",
    "merge.ff",
    "merge.log",
    "merge.renamelimit",
    "merge.renames",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "push.followtags",
    "rebase.autosquash",
    "rebase.autostash",
    "rebase.updaterefs",
    "remote.fetch",
    "remote.prune",
    "remote.tagopt",
    "rerere.enabled",
    "status.showuntrackedfiles",
    "user.email",
    "user.name",
};
constexpr std::array<std::string_view, 3> kUrls = {"remote.pushurl", "remote.url", "submodule.url"};

bool has_control(std::string_view text) {
  return std::ranges::any_of(
      text, [](char one) { return static_cast<unsigned char>(one) < 0x20 && one != '\t'; });
}

// "remote.origin.url" as "remote.url".
std::string kind_of(std::string_view name) {
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == std::string_view::npos) return {};
  return std::string(name.substr(0, first)) + std::string(name.substr(last));
}

std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (const char one : text) {
    if (one == '"' || one == '\\') made += '\\';
    made += one;
  }
  return made + "\"";
}

}  // namespace

std::string without_credentials(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const std::size_t begin = scheme + 3;
  const std::size_t end = std::min(url.find('/', begin), url.size());
  const std::size_t at = url.substr(0, end).rfind('@');
  if (at == std::string_view::npos || at < begin) return std::string(url);
  return std::string(url.substr(0, begin)) + std::string(url.substr(at + 1));
}

std::vector<Setting> harmless_settings(std::string_view listed) {
  std::vector<Setting> settings;
  while (!listed.empty() && settings.size() < kConfigSettingsMax) {
    const std::string_view one = listed.substr(0, listed.find('\0'));
    listed.remove_prefix(std::min(listed.size(), one.size() + 1));
    const std::size_t line = one.find('\n');
    // Without a value it is a yes.
    std::string_view value = line == std::string_view::npos ? "true" : one.substr(line + 1);
    const std::string_view name = one.substr(0, line);
    if (value.size() > kConfigValueBytesMax || has_control(value) || has_control(name)) continue;
    const std::string kind = kind_of(name);
    if (std::ranges::find(kUrls, kind) != kUrls.end()) {
      if (value.find("::") != std::string_view::npos) continue;  // names a helper program
      settings.push_back({std::string(name), without_credentials(value)});
    } else if (std::ranges::find(kHarmless, kind) != kHarmless.end()) {
      settings.push_back({std::string(name), std::string(value)});
    }
  }
  return settings;
}

std::string config_text(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    const std::size_t first = setting.name.find('.');
    const std::size_t last = setting.name.rfind('.');
    text += "[" + setting.name.substr(0, first);
    if (last > first) text += " " + quoted(setting.name.substr(first + 1, last - first - 1));
    text += "]\n\t" + setting.name.substr(last + 1) + " = " + quoted(setting.value) + "\n";
  }
  return text;
}

}  // namespace pawl::git
