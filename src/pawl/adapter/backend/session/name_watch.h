// Protected names that do not exist: what a command makes under one is taken out of the work tree
// as soon as inotify tells of it, or when its call has ended, at every level above `none`
// (taken_names.h). No place is kept for them, so nothing of ours is ever seen in the work tree. Not
// held: the time until then.
//
// Where the level is `landlock`, names that exist cannot be held either: a rule on a directory
// covers all that is beneath it, and none can take back what it allows. A session begins only where
// no protected name is, unless the charter accepts it.
//
// A directory that was no bare repository must not become one (HEAD, and objects and refs or a
// commondir that says where they are): git takes it for one before it looks further up, and runs
// what its `config` says. No name of the three can be held, as each is a good name for something
// else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/adapter/backend/sandbox/taken_names.h"
#include "pawl/adapter/backend/session/place_watch.h"
#include "pawl/backend.h"
#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::backend {

class NameWatch {
 public:
  // unavailable: at the level `landlock` there is a protected name, or a root within another, which
  // this level cannot hold; with the reason and the remedy. Under Protection::if_possible names
  // that are there are left alone, and only new ones are taken.
  static Result<NameWatch> open(const sandbox::SandboxPlan& plan,
                                ExecutionContext::Protection protection);

  // What is to be looked at for is_touched() to change.
  void arm(PlaceWatch& watch) const;
  // Whether take() would find anything.
  bool is_touched() const;
  // Asked when nothing of the session runs any more. A sentence for each thing that was taken, none
  // if there is nothing to say.
  std::vector<std::string> take(const TakenNames& store) const;
  // Likewise, as soon as a name appears and while commands still run.
  std::vector<std::string> take_now(const TakenNames& store) const;
  // All names that are absent, for the note on disk.
  std::vector<std::string> absent() const;
  // The host's own file tool made it, after a question: it is there by right. False: it is no name
  // that was absent.
  bool accept(const std::string& path);

 private:
  struct Place {
    std::string path;  // of the directory that names are relative to
    Descriptor directory;
    bool was_repository = false;  // before the session: it is the user's
  };
  struct Name {
    std::size_t place = 0;
    std::string name;
  };
  struct Found {
    Descriptor parent;
    std::string part;
    std::string shown;
  };
  static bool is_new_repository(const Place& place);
  Status add_place(const std::string& path);
  Status add_git_names(std::size_t place, bool refuse);
  Status add_name(std::size_t place, const std::string& name, bool refuse);
  std::optional<Found> find(const Name& name) const;
  bool is_away() const;

  std::vector<Place> places_;
  std::vector<Name> names_;
};

}  // namespace pawl::backend
