#include "pawl/adapter/host/sensitive_places.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace pawl {
namespace {

constexpr std::size_t kAccountsMax = 4096;
constexpr uid_t kFirstPerson = 1000;
constexpr uid_t kNobody = 65534;

std::string real(const std::string& path) {
  std::error_code none;
  std::string text = std::filesystem::weakly_canonical(path, none).lexically_normal().string();
  if (none) return path;
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

}  // namespace

SensitivePlaces sensitive_places() {
  SensitivePlaces places;
  places.homes.emplace_back("/root");
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {  // NOLINT
    places.elsewhere.push_back(real(home));
  }
  std::size_t seen = 0;
  ::setpwent();  // NOLINT(concurrency-mt-unsafe): charters are read on one thread
  while (const passwd* account = ::getpwent()) {  // NOLINT(concurrency-mt-unsafe)
    if (++seen > kAccountsMax) break;
    if (account->pw_dir == nullptr || account->pw_dir[0] != '/') continue;
    const bool person = account->pw_uid == 0 || account->pw_uid == ::geteuid() ||
                        (account->pw_uid >= kFirstPerson && account->pw_uid != kNobody);
    (person ? places.homes : places.elsewhere).push_back(real(account->pw_dir));
  }
  ::endpwent();                   // NOLINT(concurrency-mt-unsafe)
  std::erase(places.homes, "/");  // as good as none
  return places;
}

}  // namespace pawl
