// One look at both sides of a repository, and what follows from it: see held_repository.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pawl/adapter/backend/git/guarded_paths.h"
#include "pawl/adapter/backend/git/inside_git.h"
#include "pawl/adapter/backend/git/private_directory.h"
#include "pawl/adapter/backend/git/publish.h"
#include "pawl/adapter/backend/git/session_settings.h"

namespace pawl::git {

inline constexpr std::size_t kSaidMax = 20;     // sentences at a time
inline constexpr std::size_t kImportsMax = 64;  // one after the other, where all at once failed

// What a session remembers from one look to the next.
struct Agreement {
  Agreed agreed;
  std::set<std::string> made;           // refs that were not there before this session
  std::vector<std::string> stash = {};  // the list, newest first
  // Commits: HEAD inside was moved to `head`, and the index could not follow from `index`.
  struct Behind {
    std::string index;
    std::string head;
  };
  std::optional<Behind> behind = {};
};

// Whose doing the session's side is: of the calls of this session, or of one that was killed. What
// the latter has lost may be damage, so nothing is taken from the host for it.
enum class Doer : std::uint8_t { this_session, killed_session };

struct Sides {
  const Repository& repository;
  const PrivateDirectory& place;
  const SessionSettings& settings;
  const Publisher& publisher;
  const InsideGit& inside;
  const std::function<bool(const std::string& path)>& may_link;
  const GuardedLook& guarded;
  Doer doer = Doer::this_session;
};

class Settling {
 public:
  struct Outcome {
    std::vector<std::string> said;
    bool has_changed = false;
    bool has_host_all = false;
    bool is_damaged = false;     // git inside does not work on the directory
    bool was_overtaken = false;  // a ref could not be moved: another look knows why
  };
  Settling(const Sides& sides, Agreement& agreement) : sides_(sides), agreement_(agreement) {}

  Outcome perform();

 private:
  Status look_inside();
  Status check_index() const;
  bool is_lost(const std::string& head) const;
  Status look_at_both();
  void import_objects();
  void import_each(const std::vector<std::vector<std::string>>& wanted);
  void hold_back(const std::vector<std::vector<std::string>>& commits);
  bool has_host(const std::string& object) const;
  void settle_refs();
  void settle(const RefStep& step);
  void publish(const RefStep& step);
  void take_in(const RefStep& step);
  void collide(const RefStep& step);
  void take_in_all();
  void take_stash_log_in();
  void settle_stash();
  void settle_head();
  void publish_head();
  void settle_index();
  bool follow_head();
  void publish_index();
  void take_index_in();
  void say(std::string text);
  void compare();

  const Sides sides_;
  Agreement& agreement_;
  GitState host_;
  GitState own_;
  std::string host_head_before_;  // the object
  std::string own_head_before_;
  std::set<std::string> elsewhere_;
  std::vector<RefStep> steps_;
  std::string to_take_in_;  // for update-ref --stdin, inside
  std::vector<RefStep> taking_in_;
  bool waits_inside_ = false;  // a merge or the like is under way
  bool waits_outside_ = false;
  std::vector<std::string> stash_;  // of the session, newest first
  // Objects that are not published, and why: the host's git does not want them, or a commit changes
  // what commands may not.
  std::map<std::string, std::string> missing_;
  Outcome outcome_;
};

}  // namespace pawl::git
