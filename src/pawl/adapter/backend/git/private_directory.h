// The git directory of one session's own, kept in the data directory so that it outlives a kill.
//
//   <git>/<digest of the repository's path>/<number>/   locked by the session that has it
//       repository   the path of the work tree
//       agreed       what both sides agreed on last
//       gitfile      what stands in .git inside, where that is a file
//       private/     what tools see as .git: theirs to write, and never believed
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pawl/adapter/backend/git/git_state.h"
#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/adapter/backend/git/repository.h"
#include "pawl/adapter/backend/sandbox/taken_names.h"
#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::git {

inline constexpr int kSessionsOfRepositoryMax = 32;

class PrivateDirectory {
 public:
  // One that nobody holds, an old one first; `owner` is who tools run as.
  static Result<PrivateDirectory> take(const std::string& git_directory,
                                       const Repository& repository, const Owner& owner);

  // Makes one of a directory of git's that a tool has made, which is moved there. Nothing of it is
  // agreed on yet.
  static Status plant(const std::string& git_directory, const Repository& repository,
                      const std::string& head);

  bool is_new() const { return is_new_; }
  int number() const { return private_.number(); }  // of private/
  int slot_number() const { return lock_.number(); }
  std::string path() const { return slot_ + "/private"; }
  std::string git_file() const { return slot_ + "/gitfile"; }
  const std::string& slot() const { return slot_; }
  const Owner& owner() const { return owner_; }

  Result<Agreed> agreed() const;
  Status keep(const Agreed& agreed) const;
  Status write(const std::string& name, std::string_view text) const;  // beneath private/
  // Moves private/ to where taken things are: the next session makes another.
  Result<std::string> set_aside(const backend::TakenNames& store);
  // Takes it away with all that is in it.
  void remove();

 private:
  Status lay_out(const Repository& repository);

  std::string slot_;
  Descriptor lock_;
  Descriptor private_;
  Owner owner_;
  bool is_new_ = false;
};

// Renames, or copies and removes where the other place is another file system's.
Status move_directory(const std::string& from, const std::string& to);

// A short name of a work tree, the same in every session.
std::string name_of(const Repository& repository);

// Removes locks of git's that killed sessions have left in operators' repositories.
void remove_left_locks(const std::string& git_directory);

struct LeftDirectory {
  std::string slot;
  std::string work_tree;
};
// Those that nobody holds: a session was killed, or could not publish all.
std::vector<LeftDirectory> left_directories(const std::string& git_directory);

}  // namespace pawl::git
