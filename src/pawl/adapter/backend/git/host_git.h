// Runs the host's own git: on the operator's repository, with nothing of anybody's environment and
// with everything switched off that starts a program; or, to ask for settings, as the operator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/adapter/backend/git/repository.h"
#include "pawl/result.h"

namespace pawl::git {

inline constexpr std::int64_t kGitTimeMaxMs = 120'000;  // of one command
inline constexpr std::uint64_t kGitOutputBytesMax = 128ULL << 20U;

struct GitCall {
  std::vector<std::string> arguments;
  std::string input = {};
  int input_file = -1;                        // in place of `input`
  std::vector<std::string> environment = {};  // NAME=value, added
};

struct GitAnswer {
  int exit_code = -1;
  std::string output;
  std::string errors;  // its first line
};

class HostGit {
 public:
  // unavailable: this machine has no git.
  static Result<HostGit> find();

  // An Error: it could not be run or did not end; what it exits with is in the answer.
  Result<GitAnswer> run(const Repository& on, const GitCall& call) const;
  // Likewise, but what it exits with other than 0 is an Error, too, in git's words.
  Result<std::string> output(const Repository& on, const GitCall& call) const;
  // `git config --list -z` in a work tree, with all that the operator has set anywhere.
  Result<std::string> settings(const std::string& work_tree) const;
  // Likewise, with the file that each comes from (`--show-origin`).
  Result<std::string> settings_with_origins(const std::string& work_tree) const;
  // `git config --list -z --no-includes` of one file, which may be anybody's.
  Result<std::string> settings_in(const std::string& file) const;

 private:
  std::string program_;
};

}  // namespace pawl::git
