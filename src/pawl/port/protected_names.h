// Names in a work tree that tools must not write, must not read, or may write after a question.
//
// One table for the sandbox (mounts), the host's file tools (roots), the permission rules and the
// documents (docs/sandbox.md; a test compares them). A name is relative to a place: each write
// root, the working directory and the directories between them. Where `reach` is `anywhere` it
// holds at every depth beneath a root.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

enum class NameClass : std::uint8_t {
  never_written,  // programs of the host run or believe it: read-only for every tool
  secret,         // likewise, and no tool reads it
  ask,            // read-only for commands; a file tool writes it after a question
};
enum class NameReach : std::uint8_t { places, anywhere };

struct ProtectedName {
  std::string_view path;
  NameClass kind = NameClass::never_written;
  NameReach reach = NameReach::anywhere;
};

inline constexpr std::array kProtectedNames = {
    // Shell start-up files and what a desktop session starts.
    ProtectedName{".bashrc", NameClass::never_written, NameReach::places},
    ProtectedName{".bash_profile", NameClass::never_written, NameReach::places},
    ProtectedName{".bash_login", NameClass::never_written, NameReach::places},
    ProtectedName{".bash_logout", NameClass::never_written, NameReach::places},
    ProtectedName{".bash_aliases", NameClass::never_written, NameReach::places},
    ProtectedName{".profile", NameClass::never_written, NameReach::places},
    ProtectedName{".inputrc", NameClass::never_written, NameReach::places},
    ProtectedName{".zshrc", NameClass::never_written, NameReach::places},
    ProtectedName{".zshenv", NameClass::never_written, NameReach::places},
    ProtectedName{".zprofile", NameClass::never_written, NameReach::places},
    ProtectedName{".zlogin", NameClass::never_written, NameReach::places},
    ProtectedName{".zlogout", NameClass::never_written, NameReach::places},
    ProtectedName{".xprofile", NameClass::never_written, NameReach::places},
    ProtectedName{".xinitrc", NameClass::never_written, NameReach::places},
    ProtectedName{".xsession", NameClass::never_written, NameReach::places},
    ProtectedName{".config", NameClass::never_written, NameReach::places},
    ProtectedName{".local/bin", NameClass::never_written, NameReach::places},
    ProtectedName{".local/share/applications", NameClass::never_written, NameReach::places},
    // Programs run what stands in these, wherever they lie.
    ProtectedName{".gitconfig"},
    ProtectedName{".envrc"},
    ProtectedName{".mcp.json"},
    ProtectedName{".pawl"},
    // Credentials.
    ProtectedName{".ssh", NameClass::secret},
    ProtectedName{".gnupg", NameClass::secret},
    ProtectedName{".aws", NameClass::secret},
    ProtectedName{".azure", NameClass::secret},
    ProtectedName{".kube", NameClass::secret},
    ProtectedName{".docker/config.json", NameClass::secret},
    ProtectedName{".docker/contexts", NameClass::secret},
    ProtectedName{".netrc", NameClass::secret},
    ProtectedName{".pgpass", NameClass::secret},
    ProtectedName{".my.cnf", NameClass::secret},
    ProtectedName{".mylogin.cnf", NameClass::secret},
    ProtectedName{".git-credentials", NameClass::secret},
    ProtectedName{".pypirc", NameClass::secret},
    ProtectedName{".cargo/credentials", NameClass::secret},
    ProtectedName{".cargo/credentials.toml", NameClass::secret},
    ProtectedName{".gem/credentials", NameClass::secret},
    ProtectedName{".m2/settings.xml", NameClass::secret},
    ProtectedName{".terraform.d/credentials.tfrc.json", NameClass::secret},
    ProtectedName{".vault-token", NameClass::secret},
    ProtectedName{".password-store", NameClass::secret},
    ProtectedName{".local/share/keyrings", NameClass::secret},
    ProtectedName{".config/gh", NameClass::secret},
    ProtectedName{".config/gcloud", NameClass::secret},
    ProtectedName{".config/rclone", NameClass::secret},
    ProtectedName{".config/op", NameClass::secret},
    ProtectedName{".config/pawl", NameClass::secret},
    ProtectedName{".mozilla", NameClass::secret},
    ProtectedName{".thunderbird", NameClass::secret},
    ProtectedName{".bash_history", NameClass::secret, NameReach::places},
    ProtectedName{".zsh_history", NameClass::secret, NameReach::places},
    // Editors and package managers run what stands in these; people want them changed now and then.
    ProtectedName{".vscode", NameClass::ask, NameReach::places},
    ProtectedName{".idea", NameClass::ask, NameReach::places},
    ProtectedName{".npmrc", NameClass::ask, NameReach::places},
    ProtectedName{".gitmodules", NameClass::ask, NameReach::places},
};

inline std::vector<std::string> names_of(NameClass kind) {
  std::vector<std::string> names;
  for (const ProtectedName& name : kProtectedNames) {
    if (name.kind == kind) names.emplace_back(name.path);
  }
  return names;
}

// Not of the table: no file tool writes it, and no command at a level that holds no names. Where
// names are held, commands have a git directory of their own in its place (adapter/backend/git),
// and a repository that they make is kept.
inline constexpr std::string_view kGitName = ".git";

// A name that is not in the table holds anywhere.
inline NameReach reach_of(std::string_view name) {
  for (const ProtectedName& known : kProtectedNames) {
    if (known.path == name) return known.reach;
  }
  return NameReach::anywhere;
}

}  // namespace pawl
