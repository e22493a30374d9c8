// A place where processes run confined, made once a session; and the one way to start them there.
//
//   PAWL_TRY(auto place, Confinement::prepare(plan));
//   PAWL_TRY(ConfinedProcess process, place->start(start));
//
// A process is started by clone(CLONE_VM | CLONE_VFORK), so that the size of the host does not
// count. It has descriptors 0, 1 and 2 only, a session without a terminal, default signals, no core
// dumps, the limits of the plan, and dies with the thread that has started it. At the level
// `namespaces` it is the first process of a pid namespace: when it ends, so does all it has
// started.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/cgroup.h"
#include "pawl/adapter/backend/sandbox/host_identity.h"
#include "pawl/adapter/backend/sandbox/namespaces.h"
#include "pawl/adapter/backend/sandbox/own_directory.h"
#include "pawl/adapter/backend/sandbox/protected_places.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/adapter/backend/sandbox/seccomp_filter.h"
#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::sandbox {

struct ProcessStart {
  std::vector<std::string> argv;         // argv[0] with a '/' is a path, otherwise looked up
  std::vector<std::string> environment;  // NAME=value: all of it
  std::string working_directory;
  int input = -1;  // descriptors above 2 that become 0, 1 and 2
  int output = -1;
  int errors = -1;
  std::uint64_t mark = 0;  // RLIMIT_LOCKS, see process_tree.h; 0: left alone
};

struct ConfinedProcess {
  pid_t pid = 0;      // in the host's numbers; a child that its owner reaps
  Descriptor handle;  // pidfd
};

class Confinement {
 public:
  // unavailable: the level cannot be had here, with the reason and the remedy. Nothing is left.
  static Result<std::shared_ptr<Confinement>> prepare(SandboxPlan plan);
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  const SandboxPlan& plan() const { return plan_; }
  // An error means that not one instruction of the command has run.
  Result<ConfinedProcess> start(const ProcessStart& start) const;
  // Where the network is limited: connections to kProxyPort of 127.0.0.1 inside arrive here.
  int proxy_listener() const { return namespaces_.proxy.number(); }
  // A directory that commands may use as theirs: /tmp, or one that goes with this object.
  const std::string& temporary_directory() const { return temporary_; }
  const Cgroup& cgroup() const { return cgroup_; }
  // The version of Landlock that commands are held by; 0: none, the namespaces hold them.
  int landlock() const { return landlock_; }
  // What is mounted over itself; none but in namespaces.
  const std::vector<ProtectedPlace>& places() const { return places_.places(); }
  // Whether commands run as somebody else than the host.
  const HostIdentity& identity() const { return identity_; }

 private:
  explicit Confinement(SandboxPlan plan) : plan_(std::move(plan)) {}
  Status set_up();
  Status set_up_landlock();

  SandboxPlan plan_;
  std::shared_ptr<const SeccompProgram> filter_;
  HostIdentity identity_;
  ProtectedPlaces places_;
  Namespaces namespaces_;
  Cgroup cgroup_;
  int landlock_ = 0;
  OwnDirectory directory_;
  std::string temporary_ = "/tmp";
};

}  // namespace pawl::sandbox
