// Protected names where no layer of the kernel holds them: a rule of Landlock on a directory covers
// all that is beneath it, and none can take back what it allows.
//
// A session at such a level begins only where no protected name is. What gets one afterwards is put
// aside (".envrc" becomes "denied.envrc") when the call that made it has ended, and that call is
// denied. Not held: the time until then.
//
// At every level, a directory that was none must not become a bare repository (HEAD, and
// objects and refs or a commondir that says where they are): git takes it for one before it looks
// further up, and runs what its `config` says. No name of the three can be held, as each is a good
// name for something else.
#pragma once

#include <string>
#include <vector>

#include "pawl/base/descriptor.h"
#include "pawl/base/result.h"
#include "pawl/port/backend.h"

namespace pawl::backend {

inline constexpr int kAsideAttemptsMax = 16;  // denied.envrc, then denied.envrc.1804289383, …

class NameWatch {
 public:
  // unavailable: there is a protected name, or a read root within a write root, which this level
  // cannot hold; with the reason and the remedy. Under Protection::if_possible names that are there
  // are left alone, and only new ones are watched for.
  static Result<NameWatch> open(const ExecutionContext& context);
  // Of bare repositories only, where the kernel holds the names.
  static Result<NameWatch> open_for_repositories(const ExecutionContext& context);

  // Asked when nothing of the session runs any more; what it finds is put aside. A sentence for
  // each, none if there is nothing to say.
  std::vector<std::string> put_aside() const;
  // Whether put_aside() would find anything.
  bool is_touched() const;

 private:
  struct Place {
    std::string path;  // of the directory that names are relative to
    Descriptor directory;
    bool was_repository = false;  // before the session: it is the user's
  };
  struct Name {
    std::string shown;  // the whole path
    Descriptor parent;
    std::string part;  // the first component that does not exist
  };
  static bool is_new_repository(const Place& place);
  Status add_places(const ExecutionContext& context);
  Status add(const Place& place, const std::string& name, ExecutionContext::Protection protection);

  std::vector<Place> places_;
  std::vector<Name> names_;
};

}  // namespace pawl::backend
