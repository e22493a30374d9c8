#include "pawl/backend.h"

#include <array>

#include "pawl/port/protected_names.h"

namespace pawl {

std::vector<std::string> default_protected_names() {
  std::vector<std::string> names = {std::string(kGitName)};
  for (std::string& name : names_of(NameClass::never_written)) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> default_hidden_names() {
  return names_of(NameClass::secret);
}

std::vector<std::string> default_asked_names() {
  return names_of(NameClass::ask);
}

std::string_view name(IsolationLevel level) {
  static constexpr std::array<std::string_view, 5> kNames = {"native", "none", "landlock",
                                                             "namespace", "container"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view name(NetworkAccess access) {
  static constexpr std::array<std::string_view, 3> kNames = {"none", "limited", "full"};
  return kNames[static_cast<std::size_t>(access)];
}

std::string_view name(BackendOutcome::Kind kind) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "ok",  "failed",    "timed_out", "aborted", "memory",
      "cpu", "processes", "disk",      "denied",  "killed"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::unique_ptr<Operation> BackendSession::file_request(FileRequest /*request*/, Done /*done*/) {
  return nullptr;
}

}  // namespace pawl
