#include "pawl/adapter/backend/sandbox/namespaces.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "pawl/adapter/backend/sandbox/child_syscalls.h"
#include "pawl/adapter/backend/sandbox/dumpable.h"
#include "pawl/adapter/backend/sandbox/id_map.h"
#include "pawl/adapter/backend/sandbox/landlock_rules.h"
#include "pawl/adapter/backend/sandbox/namespace_cause.h"
#include "pawl/adapter/backend/sandbox/root_steps.h"
#include "pawl/base/describe_errno.h"

namespace pawl::sandbox {
namespace {

constexpr int kProxyBacklog = 64;
constexpr unsigned kRecursive = 0x8000;        // AT_RECURSIVE
constexpr long kBindRecursive = 4096 | 16384;  // MS_BIND | MS_REC
constexpr unsigned kDetach = 2;                // MNT_DETACH
constexpr unsigned kMoveEmptyPath = 4;         // MOVE_MOUNT_F_EMPTY_PATH
constexpr const char* kNames[kNamespaces] = {"/proc/self/ns/user", "/proc/self/ns/mnt",
                                             "/proc/self/ns/net",  "/proc/self/ns/ipc",
                                             "/proc/self/ns/uts",  "/proc/self/ns/cgroup"};
constexpr std::size_t kNetwork = 2;
constexpr int kBusyRoundsMax = 400;
constexpr long kBusyPauseNs = 5'000'000;

enum class BuildStage : std::uint8_t { identity, descriptors, network, root, done };

// Shared with the child, which fills in what follows `gate`.
struct Build {
  Step* steps = nullptr;  // plain arrays, see confined_child.h
  std::size_t step_count = 0;
  bool own_network = true;
  bool proxy = false;
  int gate = -1;
  int host = -1;
  int spaces[kNamespaces] = {-1, -1, -1, -1, -1, -1};
  int proxy_socket = -1;
  volatile BuildStage stage = BuildStage::identity;
  volatile long error = 0;
  volatile std::size_t step = 0;
};

// From here to build_main(): in the child. System calls only.

PAWL_IN_CHILD long make_text_file(const Step& step) {
  const long file = system_call(SYS_openat, AT_FDCWD, word(step.target),
                                O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) return file == -EROFS || file == -EACCES ? 0 : file;
  long bytes = 0;
  while (step.source != nullptr && step.source[bytes] != '\0') ++bytes;
  const long written = bytes == 0 ? 0 : system_call(SYS_write, file, word(step.source), bytes);
  system_call(SYS_close, file);
  return written < 0 ? written : 0;
}

PAWL_IN_CHILD long make_mask(const Step& step) {
  const long file = system_call(SYS_openat, AT_FDCWD, word(step.target),
                                O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0);
  return file < 0 ? file : system_call(SYS_close, file);
}

PAWL_IN_CHILD long open_without_links(const char* path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return system_call(SYS_openat2, AT_FDCWD, word(path), word(&how), sizeof how);
}

PAWL_IN_CHILD long open_object(Step& step) {
  const long file = open_without_links(step.target);
  step.descriptor = file < 0 ? -1 : static_cast<int>(file);
  return file < 0 ? file : 0;
}

PAWL_IN_CHILD long restrict_mount(const Step& step) {
  std::uint64_t attributes[4] = {step.flags, 0, 0, 0};  // struct mount_attr
  return system_call(SYS_mount_setattr, AT_FDCWD, word(step.target), kRecursive, word(attributes),
                     sizeof attributes);
}

// Mounts belong to their namespace, so the host's own descriptor cannot be mounted here: the path
// is opened again, without links, and compared.
PAWL_IN_CHILD long bind_held(const Step& step) {
  const long found = open_without_links(step.source);
  if (found < 0) return found;
  struct stat wanted{};
  struct stat there{};
  long result = system_call(SYS_fstat, step.descriptor, word(&wanted));
  if (result >= 0) result = system_call(SYS_fstat, found, word(&there));
  if (result >= 0 && (wanted.st_dev != there.st_dev || wanted.st_ino != there.st_ino)) {
    result = -ESTALE;
  }
  if (result < 0) {
    system_call(SYS_close, found);
    return result;
  }
  result = system_call(SYS_open_tree, found, word(""),
                       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | kRecursive);
  if (result == -ENOSYS || result == -EPERM) {  // hidden from the host: the path, as compared
    result = system_call(SYS_mount, word(step.source), word(step.target), 0, kBindRecursive, 0);
  } else if (result >= 0) {
    const long tree = result;
    result =
        system_call(SYS_move_mount, tree, word(""), AT_FDCWD, word(step.target), kMoveEmptyPath);
    system_call(SYS_close, tree);
  }
  system_call(SYS_close, found);
  return result;
}

PAWL_IN_CHILD long make_directory(const Step& step) {
  const long made = system_call(SYS_mkdirat, AT_FDCWD, word(step.target), 0755);
  // Where it cannot be made it is there, or else the mount on it says so.
  return made == -EEXIST || made == -EROFS || made == -EACCES ? 0 : made;
}

PAWL_IN_CHILD long carry_out(Step& step) {
  switch (step.kind) {
    case Step::Kind::make_directory:
      return make_directory(step);
    case Step::Kind::make_file:
      return make_text_file(step);
    case Step::Kind::make_mask:
      return make_mask(step);
    case Step::Kind::link:
      return system_call(SYS_symlinkat, word(step.source), AT_FDCWD, word(step.target));
    case Step::Kind::mount:
      return system_call(SYS_mount, word(step.source), word(step.target), word(step.type),
                         static_cast<long>(step.flags), word(step.data));
    case Step::Kind::bind_held:
      return bind_held(step);
    case Step::Kind::attach:
      return system_call(SYS_move_mount, step.descriptor, word(""), AT_FDCWD, word(step.target),
                         kMoveEmptyPath);
    case Step::Kind::restrict_mount:
      return restrict_mount(step);
    case Step::Kind::pivot:
      return system_call(SYS_pivot_root, word(step.target), word(step.source));
    case Step::Kind::enter:
      return system_call(SYS_chdir, word(step.target));
    case Step::Kind::detach:
      return system_call(SYS_umount2, word(step.target), kDetach);
    case Step::Kind::open:
      return open_object(step);
  }
  return -EINVAL;
}

PAWL_IN_CHILD long become_inside_user(const Build& build) {
  if (const long opened = await_gate(build.gate, build.host); opened != 'g') {
    return opened < 0 ? opened : -ECANCELED;
  }
  const long group = system_call(SYS_setresgid, kInsideId, kInsideId, kInsideId);
  return group < 0 ? group : system_call(SYS_setresuid, kInsideId, kInsideId, kInsideId);
}

PAWL_IN_CHILD long open_spaces(Build& build) {
  for (std::size_t i = 0; i < kNamespaces; ++i) {
    if (i == kNetwork && !build.own_network) continue;
    const long space = system_call(SYS_openat, AT_FDCWD, word(kNames[i]), O_RDONLY | O_CLOEXEC);
    if (space < 0) return space;
    build.spaces[i] = static_cast<int>(space);
  }
  return 0;
}

PAWL_IN_CHILD long raise_loopback() {
  const long socket = system_call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return socket;
  ifreq request{};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const long raised = system_call(SYS_ioctl, socket, SIOCSIFFLAGS, word(&request));
  system_call(SYS_close, socket);
  return raised;
}

PAWL_IN_CHILD long listen_for_proxy(Build& build) {
  const long socket = system_call(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return socket;
  build.proxy_socket = static_cast<int>(socket);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = __builtin_bswap16(kProxyPort);
  address.sin_addr.s_addr = __builtin_bswap32(0x7F000001U);
  const long bound = system_call(SYS_bind, socket, word(&address), sizeof address);
  return bound < 0 ? bound : system_call(SYS_listen, socket, kProxyBacklog);
}

PAWL_IN_CHILD long set_up_network(Build& build) {
  if (!build.own_network) return 0;
  const long raised = raise_loopback();
  return raised < 0 || !build.proxy ? raised : listen_for_proxy(build);
}

// This child shares its descriptors with the host. What another thread of that forks meanwhile has
// a copy of a file that is being written, until it executes its program: for so long the root is
// in use and cannot be made read-only.
PAWL_IN_CHILD long carry_out_when_free(Step& step) {
  long result = carry_out(step);
  for (int i = 0; i < kBusyRoundsMax && result == -EBUSY; ++i) {
    timespec pause{0, kBusyPauseNs};
    system_call(SYS_nanosleep, word(&pause), 0);
    result = carry_out(step);
  }
  return result;
}

PAWL_IN_CHILD long build_root(Build& build) {
  for (std::size_t i = 0; i < build.step_count; ++i) {
    Step& step = build.steps[i];
    build.step = i;
    const long result = carry_out_when_free(step);
    if (result < 0) step.error = static_cast<int>(-result);
    if (result < 0 && step.failure == Step::Failure::fatal) return result;
  }
  return 0;
}

PAWL_IN_CHILD long build_all(Build& build) {
  long result = become_inside_user(build);
  if (result < 0) return result;
  build.stage = BuildStage::descriptors;
  result = open_spaces(build);
  if (result < 0) return result;
  build.stage = BuildStage::network;
  result = set_up_network(build);
  if (result < 0) return result;
  build.stage = BuildStage::root;
  result = build_root(build);
  if (result >= 0) build.stage = BuildStage::done;
  return result;
}

PAWL_IN_CHILD int build_main(void* argument) {
  Build& build = *static_cast<Build*>(argument);
  const long result = build_all(build);
  build.error = result < 0 ? -result : 0;
  system_call(SYS_exit, 0);
  return 0;
}

Error describe_failure(const Build& build) {
  const int error = static_cast<int>(build.error);
  std::string where = "namespaces";
  if (build.stage == BuildStage::identity) where = "becoming user 1000 of the namespace";
  if (build.stage == BuildStage::network) where = "loopback of the network namespace";
  if (build.stage == BuildStage::root) {
    const Step& step = build.steps[build.step];
    where = "root of the sandbox, step " + std::to_string(build.step) + " (" +
            (step.source == nullptr || step.kind == Step::Kind::make_file ? "" : step.source) +
            " -> " + step.target + ")";
  }
  // AppArmor lets a namespace be made, and then forbids what it is for.
  const NamespaceSettings settings = read_namespace_settings();
  const bool forbidden = error == EPERM || error == EACCES;
  if (forbidden && !forbidding_setting(settings).empty()) {
    return no_namespaces(where, error, settings);
  }
  return {ErrorCode::unavailable, "no sandbox: " + where + ": " + describe_errno(error)};
}

// Whatever came of it, the descriptors that the child has opened are the host's.
Namespaces take(Build& build) {
  Namespaces made;
  for (std::size_t i = 0; i < kNamespaces; ++i) made.spaces[i].reset(build.spaces[i]);
  made.proxy.reset(build.proxy_socket);
  return made;
}

Status allow_objects(RootSteps& root, const Descriptor& ruleset) {
  Status status = ok();
  auto rule = root.rules().begin();
  for (Step& step : root.steps()) {
    if (step.kind != Step::Kind::open || step.descriptor < 0) continue;
    const Descriptor object(step.descriptor);
    if (status && ruleset) status = allow_beneath(ruleset, object.number(), *rule);
    ++rule;
  }
  return status;
}

Status run_build(Build& build, const HostIdentity& identity) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorCode::unavailable, "no sandbox: no pipe"};
  const Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  build.gate = ends[0];
  const Descriptor host = open_own_process();
  if (!host) return Error{ErrorCode::unavailable, "no sandbox: no descriptor"};
  build.host = host.number();
  const unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
                              CLONE_NEWUTS | CLONE_NEWCGROUP |
                              (build.own_network ? CLONE_NEWNET : 0);
  SharedChild child;
  if (const int error = child.start(&build_main, &build, flags); error != 0) {
    return no_namespaces("user namespaces are not allowed here", error, read_namespace_settings());
  }
  const Status mapped =
      write_id_maps(child.pid(), {kInsideId, identity.user}, {kInsideId, identity.group});
  [[maybe_unused]] const ssize_t let_go = ::write(write_end.number(), mapped ? "g" : "x", 1);
  child.await_end();
  if (!mapped) {
    return no_namespaces("the user of a namespace cannot be set", EPERM, read_namespace_settings());
  }
  return build.stage == BuildStage::done ? ok() : Status(describe_failure(build));
}

}  // namespace

Result<Namespaces> make_namespaces(const SandboxPlan& plan, const HostIdentity& identity,
                                   const ProtectedPlaces& places) {
  PAWL_TRY(Descriptor ruleset, make_landlock_ruleset(plan.level, plan.network));
  RootSteps root(plan, identity.mounts, places.places());
  Build build;
  build.steps = root.steps().data();
  build.step_count = root.steps().size();
  build.own_network = plan.network != NetworkAccess::full;
  build.proxy = plan.network == NetworkAccess::limited;
  const DumpableKept dumpable(DumpableKept::Need::unchanged);
  const Status built = run_build(build, identity);
  Namespaces made = take(build);
  made.ruleset = std::move(ruleset);
  const Status allowed = allow_objects(root, made.ruleset);
  PAWL_CHECK(built);
  PAWL_CHECK(allowed);
  if (!root.has_proc()) made.proc = Namespaces::Proc::none;
  return made;
}

}  // namespace pawl::sandbox
