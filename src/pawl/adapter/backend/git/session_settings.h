// The settings of a session's own git directory: config, info/exclude and info/attributes.
//
// They are the operator's as far as they start no program and tell no secret. What a command sets
// stays for its session within the same bounds, and what the operator changes meanwhile is taken in
// between calls. A filter of the operator's (Git LFS, for example) cannot run inside: in its place
// is one that fails with the reason, because git would otherwise commit the wrong content without a
// word.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/backend/git/config_filter.h"
#include "pawl/adapter/backend/git/host_git.h"
#include "pawl/adapter/backend/git/private_directory.h"
#include "pawl/ids.h"

namespace pawl::git {

class SessionSettings {
 public:
  explicit SessionSettings(const HostGit& git) : git_(&git) {}

  // Writes all of them anew from the operator's.
  Status write(const Repository& repository, const PrivateDirectory& place);
  // Between calls: reduces what a command has set, and takes in what the operator has set.
  // False: nothing has changed.
  bool settle(const Repository& repository, const PrivateDirectory& place);
  bool has_filters() const { return !filters_.empty(); }

 private:
  Status write_lists(const Repository& repository, const PrivateDirectory& place,
                     std::string_view listed) const;
  Status write_config(const PrivateDirectory& place, const std::vector<Setting>& settings) const;
  Result<std::vector<Setting>> own_settings(const PrivateDirectory& place) const;
  Status take_in(const Repository& repository, const PrivateDirectory& place);

  const HostGit* git_;
  std::vector<Setting> host_;         // of the operator's, the harmless ones
  std::string filters_;               // the part of a config that stands in for filters
  std::optional<Digest> host_marks_;  // of the operator's files
  std::optional<Digest> own_marks_;   // of the session's, as they were left
};

// The time that a copy of the operator's index must have. Where filters are refused it is later
// than all files: git would otherwise start a filter for each file as young as the index.
std::optional<timespec> index_time(const SessionSettings& settings, const Repository& repository);

// What stands in for each filter that a configuration (`git config --list -z`) names a program for.
std::string refused_filters(std::string_view listed);

}  // namespace pawl::git
