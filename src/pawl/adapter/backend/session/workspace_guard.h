// Everything around the protected names of one session: what is there, what must not appear, and
// what the host replaces meanwhile.
//
//   PAWL_TRY(guard, WorkspaceGuard::open(plan, context));  // adds what it finds to the plan
//   place = Confinement::prepare(plan)
//   guard->hold(place->places());
//
// A bind mount on a name is detached when the host replaces the name by rename (an editor's save,
// `sed -i`), and a directory that the host moves takes its mount along: the name is writable inside
// then. The guard notices both by inotify; its owner ends all processes and sets up anew.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/protected_places.h"
#include "pawl/adapter/backend/session/name_watch.h"

namespace pawl::backend {

class WorkspaceGuard {
 public:
  // First takes what sessions that were killed have left. Adds nested names to the plan, and writes
  // the note of absent names before anything can run.
  static Result<std::unique_ptr<WorkspaceGuard>> open(sandbox::SandboxPlan& plan,
                                                      const ExecutionContext& context);

  // The places that are mounted; asked by replaced() from now on.
  void hold(std::vector<sandbox::ProtectedPlace> places);

  // To be polled while a process runs; -1: there is none, look from time to time.
  int descriptor() const { return watch_.descriptor(); }
  // The host may be replacing files at this moment, as git does: it removes one and makes it anew.
  // Waits a little for those that are gone.
  void wait_for_held() const;
  // Paths that lead elsewhere than to what is mounted.
  std::vector<std::string> replaced();
  // After all processes have ended: the name may hold what a command wrote.
  bool was_written(const std::string& path);
  // Likewise: the name is gone, and a command may have removed it.
  bool was_removed(const std::string& path);

  bool is_touched();
  // Sentences about what was taken; nothing of the session runs meanwhile.
  std::vector<std::string> take();
  // Likewise, while commands still run; asked when descriptor() has told of something.
  std::vector<std::string> take_now();
  // Of the names at any depth that are there now, those that were not when the session began.
  std::vector<std::string> new_among(const std::vector<std::string>& found) const;
  std::vector<std::string> take_paths(const std::vector<std::string>& paths) const;
  // A file tool has made it, after a question. True: it was absent before.
  bool accept(const std::string& path);

  // What sessions before this one have left, and what was not looked at: for the first call.
  const std::vector<std::string>& remarks() const { return remarks_; }
  // A clean end: nothing is left to be found.
  void close() { note_.remove(); }

 private:
  WorkspaceGuard(NameWatch names, TakenNames store)
      : names_(std::move(names)), store_(std::move(store)) {}
  bool holds(const sandbox::ProtectedPlace& place) const;
  void arm(const std::vector<sandbox::ProtectedPlace>& places);

  NameWatch names_;
  TakenNames store_;
  PlaceWatch watch_;
  AbsentNote note_;
  std::vector<sandbox::ProtectedPlace> held_;
  std::set<std::string> known_;  // names at any depth that were there when the session began
  std::vector<std::string> remarks_;
};

// Of `names`, those that hold at any depth.
std::vector<std::string> names_anywhere(const std::vector<std::string>& names);

}  // namespace pawl::backend
