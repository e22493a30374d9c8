#include "pawl/charter/host/workspace_roots.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "pawl/base/link_free_path.h"
#include "pawl/base/path_text.h"
#include "pawl/port/protected_names.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

// Never written as a whole.
constexpr std::array<std::string_view, 20> kSystem = {
    "/",    "/bin",  "/boot", "/dev", "/etc",  "/home", "/lib", "/lib32", "/lib64", "/libx32",
    "/opt", "/proc", "/root", "/run", "/sbin", "/srv",  "/sys", "/usr",   "/var",   "/var/lib"};
// Shared by everybody: only where a charter names them.
constexpr std::array<std::string_view, 4> kShared = {"/tmp", "/var/tmp", "/dev/shm", "/mnt"};

std::string plain(const fs::path& path) {
  std::string text = path.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

template <class List>
bool has(const List& list, const std::string& path) {
  return std::ranges::find(list, path) != list.end();
}

std::string real(const std::string& path) {
  std::error_code none;
  const fs::path found = fs::weakly_canonical(path, none);
  return none ? path : plain(found);
}

// Where the path has a directory of credentials in it: "a/.ssh/work" is within ".ssh".
std::string secret_within(const std::string& path) {
  for (const ProtectedName& name : kProtectedNames) {
    const std::string part = "/" + std::string(name.path);
    if (name.kind != NameClass::secret) continue;
    if ((path + "/").find(part + "/") != std::string::npos) return std::string(name.path);
  }
  return {};
}

// What a home has and a project has not.
std::string secret_inside(const std::string& directory) {
  for (const ProtectedName& name : kProtectedNames) {
    std::error_code none;
    if (name.kind != NameClass::secret) continue;
    if (fs::exists(fs::symlink_status(directory + "/" + std::string(name.path), none))) {
      return std::string(name.path);
    }
  }
  return {};
}

class RootCheck {
 public:
  RootCheck(const Charter& charter, const SensitivePlaces& sensitive)
      : charter_(charter), sensitive_(sensitive) {}

  // `text` is how the charter names it.
  void look(const std::string& text, const std::string& path, std::string_view what) {
    if (const Status found = reach_link_free(path); !found) {
      const bool absent = found.error().code == ErrorCode::not_found;
      add(text, std::string(what) + " " + path + ": " + found.error().message,
          absent ? "create it, or name another" : "");
    }
  }

  void write(const std::string& text, const std::string& path) {
    if (!charter_.sandbox.write_named) return by_default(path);
    if (const std::string why = never(path); !why.empty()) {
      add(text, "the write root " + path + " is " + why, advice(path));
    }
  }

  void read(const std::string& text, const std::string& path) {
    if (path == "/") add(text, "the read root / is the whole machine", "name what is needed");
    const std::string secret = secret_within(path);
    if (secret.empty()) return;
    add(text, "the read root " + path + " holds credentials (" + secret + ")", "name another");
  }

  void add(std::string about, std::string message, std::string remedy) {
    faults_.push_back({std::move(about), std::move(message), std::move(remedy)});
  }
  std::vector<ToolFault> take() { return std::move(faults_); }

 private:
  void by_default(const std::string& path) {
    std::string why = never(path);
    if (why.empty() && has(sensitive_.elsewhere, path)) why = "a home directory";
    if (why.empty() && has(kShared, path)) why = "shared by everybody";
    if (const std::string secret = secret_inside(path); why.empty() && !secret.empty()) {
      why = "a directory with credentials (" + secret + ")";
    }
    if (why.empty()) return;
    add(charter_.name,
        "the charter lies in " + path + ", which is " + why + ": it is not writable by default",
        advice(path));
  }

  std::string never(const std::string& path) const {
    if (has(kSystem, path)) return path == "/" ? "the whole machine" : "a directory of the system";
    for (const std::string& home : sensitive_.homes) {
      if (path == home) return "a home directory";
      if (is_beneath(home, path)) return "a directory with the home " + home + " in it";
    }
    const std::string secret = secret_within(path);
    return secret.empty() ? secret : "a place of credentials (" + secret + ")";
  }

  static std::string advice(const std::string& path) {
    const std::string work = path == "/" ? "/srv/work" : path + "/work";
    return "make a directory for the work and write: sandbox: { directory: " + work + ", write: [" +
           work + "] }";
  }

  const Charter& charter_;
  const SensitivePlaces& sensitive_;
  std::vector<ToolFault> faults_;
};

bool is_within_any(const std::string& path, const std::vector<std::string>& roots) {
  return std::ranges::any_of(roots, [&](const std::string& root) { return is_within(path, root); });
}

}  // namespace

WorkspaceRoots roots_of(const Charter& charter) {
  const std::string typed =
      plain(fs::absolute(charter.directory.empty() ? "." : charter.directory));
  const std::string here = real(typed);
  // A path within the directory as it was typed means the same place.
  const auto place = [&](const std::string& text) {
    const std::string path = plain(fs::path(here) / text);
    if (text.starts_with('/') && is_within(path, typed)) {
      return plain(here + path.substr(typed == "/" ? 0 : typed.size()));
    }
    return path;
  };
  WorkspaceRoots roots;
  roots.directory = place(charter.sandbox.directory);
  for (const std::string& path : charter.sandbox.write) roots.write.push_back(place(path));
  for (const std::string& path : charter.sandbox.read) roots.read.push_back(place(path));
  for (const std::string& path : charter.sandbox.deny) roots.deny.push_back(place(path));
  return roots;
}

std::vector<ToolFault> faults_of_roots(const Charter& charter, const WorkspaceRoots& roots,
                                       const SensitivePlaces& sensitive) {
  const SandboxDeclaration& sandbox = charter.sandbox;
  RootCheck check(charter, sensitive);
  for (std::size_t i = 0; i < roots.write.size(); ++i) {
    check.look(sandbox.write[i], roots.write[i], "write root");
    check.write(sandbox.write[i], roots.write[i]);
  }
  for (std::size_t i = 0; i < roots.read.size(); ++i) {
    check.look(sandbox.read[i], roots.read[i], "read root");
    check.read(sandbox.read[i], roots.read[i]);
  }
  for (std::size_t i = 0; i < roots.deny.size(); ++i) {
    const std::string& path = roots.deny[i];
    check.look(sandbox.deny[i], path, "denied");
    if (has(roots.write, path) || has(roots.read, path)) {
      check.add(sandbox.deny[i], "denied " + path + ": it is a root as well",
                "keep one of the two");
    } else if (!is_within_any(path, roots.write) && !is_within_any(path, roots.read)) {
      check.add(sandbox.deny[i], "denied " + path + ": it lies beneath no root, and cannot be seen",
                "take it out");
    }
  }
  if (!is_within_any(roots.directory, roots.write) && !is_within_any(roots.directory, roots.read)) {
    check.add(sandbox.directory, "directory " + roots.directory + " lies beneath none of the roots",
              "add it to write or read, or name a directory beneath one of them");
  } else if (!has(roots.write, roots.directory) && !has(roots.read, roots.directory)) {
    check.look(sandbox.directory, roots.directory, "directory");
  }
  return check.take();
}

}  // namespace pawl
