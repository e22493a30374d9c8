#include "pawl/adapter/backend/git/session_settings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "pawl/adapter/backend/git/file_marks.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"

namespace pawl::git {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSettingsBytesMax = 1ULL << 20U;
constexpr std::size_t kFiltersMax = 64;
constexpr std::string_view kConfigHead =
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[gc]\n\tauto = 0\n"
    "[maintenance]\n\tauto = false\n";
// Whoever owns a file is another number inside; without this git would run the filter for each file
// to see that it has not changed.
constexpr std::string_view kWithFilters = "[core]\n\tcheckStat = minimal\n";

// Without a file: empty.
std::string text_of(const std::string& path) {
  auto text = read_plain_file(path, kSettingsBytesMax);
  return text ? *std::move(text) : std::string();
}

std::string home_path(std::string path) {
  const char* home = std::getenv("HOME");  // NOLINT
  if (path.starts_with("~/") && home != nullptr) return home + path.substr(1);
  return path;
}

// What the operator ignores everywhere.
std::string ignored_everywhere(std::string_view listed) {
  std::string file;
  const char* own = std::getenv("XDG_CONFIG_HOME");  // NOLINT
  file = own != nullptr && *own != '\0' ? std::string(own) + "/git/ignore"
                                        : home_path("~/.config/git/ignore");
  constexpr std::string_view kKey = "core.excludesfile\n";
  for (std::size_t at = listed.find(kKey); at != std::string_view::npos;
       at = listed.find(kKey, at + 1)) {
    if (at != 0 && listed[at - 1] != '\0') continue;
    const std::string_view rest = listed.substr(at + kKey.size());
    file = home_path(std::string(rest.substr(0, rest.find('\0'))));
  }
  std::error_code none;
  const fs::path real = fs::canonical(file, none);
  return none ? std::string() : text_of(real.string());
}

Digest marks_of_host(const Repository& repository) {
  const auto marks = [](const std::string& path, const std::vector<std::string>& names) {
    const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return marks_of(directory.number(), names);
  };
  return Sha256()
      .add(
          marks(repository.common, {"config", "info/exclude", "info/attributes", "shallow"}).view())
      .add(marks(repository.directory, {"config.worktree"}).view())
      .finish();
}

Digest marks_of_own(const PrivateDirectory& place) {
  return marks_of(place.number(), {"config", "config.worktree", "commondir"});
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char one) {
    return std::isalnum(one) != 0 || one == '.' || one == '-' || one == '_';
  });
}

bool has(const std::vector<Setting>& settings, const Setting& one) {
  return std::ranges::find(settings, one) != settings.end();
}

}  // namespace

std::optional<timespec> index_time(const SessionSettings& settings, const Repository& repository) {
  if (!settings.has_filters()) return time_of(repository.directory + "/index");
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  ++now.tv_sec;
  return now;
}

std::string refused_filters(std::string_view listed) {
  std::set<std::string> names;
  while (!listed.empty() && names.size() < kFiltersMax) {
    const std::string_view one = listed.substr(0, listed.find('\0'));
    listed.remove_prefix(std::min(listed.size(), one.size() + 1));
    const std::string_view key = one.substr(0, one.find('\n'));
    constexpr std::string_view kSection = "filter.";
    if (!key.starts_with(kSection)) continue;
    for (const std::string_view program : {".clean", ".smudge", ".process"}) {
      if (!key.ends_with(program) || key.size() <= kSection.size() + program.size()) continue;
      names.emplace(key.substr(kSection.size(), key.size() - kSection.size() - program.size()));
    }
  }
  std::string text;
  for (const std::string& name : names) {
    if (!is_word(name)) continue;
    const std::string program = "echo 'The filter " + name +
                                " does not run in the sandbox. Files that need it are added and "
                                "checked out outside.' >&2; exit 1";
    for (const char* key : {"clean", "smudge"}) {
      text += config_text({{"filter." + name + "." + key, program}});
    }
    text += config_text({{"filter." + name + ".required", "true"}});
  }
  return text.empty() ? text : std::string(kWithFilters) + text;
}

Status SessionSettings::write_config(const PrivateDirectory& place,
                                     const std::vector<Setting>& settings) const {
  return place.write("config", std::string(kConfigHead) + config_text(settings) + filters_);
}

Status SessionSettings::write_lists(const Repository& repository, const PrivateDirectory& place,
                                    std::string_view listed) const {
  PAWL_CHECK(place.write("info/exclude", text_of(repository.common + "/info/exclude") + "\n" +
                                             ignored_everywhere(listed)));
  PAWL_CHECK(place.write("info/attributes", text_of(repository.common + "/info/attributes")));
  std::string alternates =
      std::string(sandbox::kMountsInside) + "/git/" + name_of(repository) + "/objects\n";
  for (const std::string& path : repository.alternates) alternates += path + "\n";
  PAWL_CHECK(place.write("objects/info/alternates", alternates));
  if (std::string shallow = text_of(repository.common + "/shallow"); !shallow.empty()) {
    PAWL_CHECK(place.write("shallow", shallow));
  }
  return ok();
}

Status SessionSettings::write(const Repository& repository, const PrivateDirectory& place) {
  host_marks_ = marks_of_host(repository);
  PAWL_TRY(const std::string listed, git_->settings(repository.work_tree));
  host_ = harmless_settings(listed);
  filters_ = refused_filters(listed);
  PAWL_CHECK(write_config(place, host_));
  PAWL_CHECK(write_lists(repository, place, listed));
  own_marks_ = marks_of_own(place);
  return ok();
}

// What a tool has set stays for its next call as far as it is harmless: a call that runs without a
// question relies on that.
Result<std::vector<Setting>> SessionSettings::own_settings(const PrivateDirectory& place) const {
  PAWL_TRY(const std::string text, read_plain_beneath(place.number(), "config", kSettingsBytesMax));
  const Descriptor slot(::open(place.slot().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  PAWL_CHECK(replace_beneath(slot.number(), "config", text, {}));
  PAWL_TRY(const std::string listed, git_->settings_in(place.slot() + "/config"));
  return harmless_settings(listed);
}

// What the operator has removed goes, and what is new comes last, where it counts.
Status SessionSettings::take_in(const Repository& repository, const PrivateDirectory& place) {
  PAWL_TRY(const std::string listed, git_->settings(repository.work_tree));
  const std::vector<Setting> host = harmless_settings(listed);
  PAWL_TRY(std::vector<Setting> settings, own_settings(place));
  std::erase_if(settings, [&](const Setting& one) { return has(host_, one) && !has(host, one); });
  for (const Setting& one : host) {
    if (!has(host_, one) && settings.size() < kConfigSettingsMax) settings.push_back(one);
  }
  host_ = host;
  filters_ = refused_filters(listed);
  PAWL_CHECK(write_lists(repository, place, listed));
  return write_config(place, settings);
}

bool SessionSettings::settle(const Repository& repository, const PrivateDirectory& place) {
  const Digest host = marks_of_host(repository);
  const bool host_changed = host_marks_ != host;
  if (!host_changed && own_marks_ == marks_of_own(place)) return false;
  for (const char* name : {"config.worktree", "commondir"}) ::unlinkat(place.number(), name, 0);
  Status done = ok();
  if (host_changed) {
    host_marks_ = host;
    done = take_in(repository, place);
  } else {
    const auto settings = own_settings(place);
    done = settings ? write_config(place, *settings) : Status(settings.error());
  }
  if (!done) static_cast<void>(write(repository, place));
  own_marks_ = marks_of_own(place);
  return true;
}

}  // namespace pawl::git
