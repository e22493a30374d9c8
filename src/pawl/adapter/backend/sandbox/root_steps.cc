#include "pawl/adapter/backend/sandbox/root_steps.h"

#include <linux/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <utility>

#include "pawl/adapter/backend/sandbox/system_paths.h"
#include "pawl/base/path_text.h"

namespace pawl::sandbox {
namespace {

using Kind = Step::Kind;

// <sys/mount.h> and <linux/mount.h> cannot be included together; these are the kernel's interface.
constexpr unsigned long kReadOnly = 1;
constexpr unsigned long kNoSuid = 2;
constexpr unsigned long kNoDevices = 4;
constexpr unsigned long kNoExecute = 8;
constexpr unsigned long kBind = 4096;
constexpr unsigned long kRecursive = 16384;
constexpr unsigned long kPrivate = 1UL << 18U;

constexpr unsigned long kOfSystem = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr unsigned long kOfWorkspace = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr unsigned long kOfDevices = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;

// Somewhere to stand while the root is built. What is mounted over it comes into view again when
// this place has become the root itself.
constexpr std::string_view kScaffold = "/usr";
constexpr std::string_view kOld = "/old";
constexpr std::string_view kNew = "/new";
constexpr std::string_view kMask = "/mask";  // an empty file without any right

constexpr std::uint64_t kFilesLeast = 4096;
constexpr std::uint64_t kBytesPerFile = 4096;

constexpr std::string_view kPasswd =
    "root:x:0:0:root:/:/usr/sbin/nologin\n"
    "pawl:x:1000:1000:pawl:/tmp:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n";
constexpr std::string_view kGroup = "root:x:0:\npawl:x:1000:\nnogroup:x:65534:\n";
constexpr std::string_view kHosts = "127.0.0.1 localhost\n::1 localhost\n";
constexpr std::string_view kNames = "passwd: files\ngroup: files\nhosts: files dns\n";

std::string inside(std::string_view path) {
  return std::string(kNew) + std::string(path);
}

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Where a link of the system leads; empty when it is none.
std::string link_target(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t bytes = ::readlink(path.c_str(), target.data(), target.size());
  target.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return target;
}

}  // namespace

RootSteps::RootSteps(const SandboxPlan& plan, const std::vector<DetachedMount>& detached,
                     const std::vector<ProtectedPlace>& places)
    : plan_(plan) {
  begin();
  bind_system();
  write_configuration();
  make_devices();
  make_temporary();
  bind_roots(detached);
  protect(places);
  bind_mounts(detached);
  mask_programs();
  finish();
  open_rules();
}

const char* RootSteps::keep(std::string text) {
  return texts_.emplace_back(std::move(text)).c_str();
}

Step& RootSteps::add(Kind kind, std::string_view target, std::string_view source) {
  Step step;
  step.kind = kind;
  step.target = keep(std::string(target));
  if (source.data() != nullptr) step.source = keep(std::string(source));
  return steps_.emplace_back(step);
}

void RootSteps::mount(std::string_view source, std::string_view target, const char* type,
                      unsigned long flags, std::string data) {
  Step& step = add(Kind::mount, target, source);
  step.type = type;
  step.flags = flags;
  if (!data.empty()) step.data = keep(std::move(data));
}

void RootSteps::restrict_mount(std::string_view target, unsigned long attributes) {
  add(Kind::restrict_mount, target).flags = attributes;
}

// `path` as seen by those inside.
void RootSteps::make_parents(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    std::string parent = path.substr(0, at);
    if (std::find(made_.begin(), made_.end(), parent) != made_.end()) continue;
    add(Kind::make_directory, inside(parent));
    made_.push_back(std::move(parent));
  }
}

void RootSteps::bind(const std::string& path, unsigned long attributes) {
  bind(path, path, attributes);
}

void RootSteps::bind(const std::string& source, const std::string& target,
                     unsigned long attributes) {
  make_parents(target);
  add(is_directory(source) ? Kind::make_directory : Kind::make_file, inside(target));
  // Links of the host lead nowhere while its root is at /old.
  std::error_code none;
  const std::string real = std::filesystem::canonical(source, none);
  mount(std::string(kOld) + (none ? source : real), inside(target), nullptr, kBind | kRecursive);
  restrict_mount(inside(target), attributes);
}

// A root has no link on its way, and is held by the plan: whoever puts another thing in its place
// meanwhile makes the step fail.
void RootSteps::bind_root(const std::string& path, unsigned long attributes) {
  make_parents(path);
  add(is_directory(path) ? Kind::make_directory : Kind::make_file, inside(path));
  add(Kind::bind_held, inside(path), std::string(kOld) + path).descriptor = held_root(plan_, path);
  restrict_mount(inside(path), attributes);
}

void RootSteps::begin() {
  mount("none", "/", nullptr, kPrivate | kRecursive);
  mount("pawl", kScaffold, "tmpfs", kNoSuid | kNoDevices, "mode=0755,size=1m");
  add(Kind::make_directory, std::string(kScaffold) + std::string(kOld));
  add(Kind::make_directory, std::string(kScaffold) + std::string(kNew));
  add(Kind::pivot, kScaffold, std::string(kScaffold) + std::string(kOld));
  add(Kind::enter, "/");
  mount("pawl", kNew, "tmpfs", kNoSuid | kNoDevices, "mode=0755,size=1m");
  add(Kind::make_mask, kMask);
}

void RootSteps::bind_system() {
  for (const std::string_view name : kSystemDirectories) {
    const std::string path(name);
    if (const std::string target = link_target(path); !target.empty()) {
      add(Kind::link, inside(path), target);
    } else if (exists(path)) {
      bind(path, kOfSystem);
    }
  }
}

void RootSteps::write_configuration() {
  const bool network = plan_.network == NetworkAccess::full;
  make_parents("/etc/passwd");
  add(Kind::make_file, inside("/etc/passwd"), kPasswd);
  add(Kind::make_file, inside("/etc/group"), kGroup);
  const auto bind_file = [&](std::string_view path) {
    if (::access(std::string(path).c_str(), R_OK) == 0) bind(std::string(path), kOfSystem);
  };
  for (const std::string_view path : kSystemConfiguration) bind_file(path);
  if (network) {
    for (const std::string_view path : kNetworkConfiguration) bind_file(path);
  } else {
    add(Kind::make_file, inside("/etc/hosts"), kHosts);
    add(Kind::make_file, inside("/etc/nsswitch.conf"), kNames);
  }
}

void RootSteps::make_devices() {
  make_parents("/dev/shm/.");
  for (const std::string_view name : kDevices) {
    const std::string path = "/dev/" + std::string(name);
    add(Kind::make_file, inside(path));
    mount(std::string(kOld) + path, inside(path), nullptr, kBind);
    // The node is the host's own. A device can be written on a read-only mount; its mode, owner and
    // times cannot, which root's number and whoever may write it could change otherwise.
    restrict_mount(inside(path), kOfDevices);
  }
  add(Kind::link, inside("/dev/fd"), "/proc/self/fd");
  add(Kind::link, inside("/dev/stdin"), "/proc/self/fd/0");
  add(Kind::link, inside("/dev/stdout"), "/proc/self/fd/1");
  add(Kind::link, inside("/dev/stderr"), "/proc/self/fd/2");
}

// In memory and bounded: what is written there counts against the session like memory does.
void RootSteps::make_temporary() {
  // Files without content take memory, too.
  const std::uint64_t files = std::max(kFilesLeast, plan_.limits.memory_bytes / kBytesPerFile);
  const std::string size =
      ",size=" + std::to_string(plan_.limits.memory_bytes) + ",nr_inodes=" + std::to_string(files);
  const unsigned long flags = kNoSuid | kNoDevices;
  mount("pawl", inside("/dev/shm"), "tmpfs", flags | kNoExecute, "mode=1777" + size);
  add(Kind::make_directory, inside("/tmp"));
  made_.emplace_back("/tmp");
  mount("pawl", inside("/tmp"), "tmpfs", flags, "mode=1777" + size);
  for (const char* name : {"/var", "/run", "/proc"}) {
    add(Kind::make_directory, inside(name));
    made_.emplace_back(name);
  }
  // The same place by another name. Not a link: a root may lie beneath it.
  add(Kind::make_directory, inside("/var/tmp"));
  made_.emplace_back("/var/tmp");
  mount(inside("/tmp"), inside("/var/tmp"), nullptr, kBind);
  // It is the one of a pid namespace that is about to end, and shows nobody. Without one in place
  // the kernel would not let commands mount theirs.
  proc_step_ = steps_.size();
  mount("proc", inside("/proc"), "proc", kReadOnly | kNoSuid | kNoDevices | kNoExecute);
  steps_.back().failure = Step::Failure::fine;
}

void RootSteps::bind_roots(const std::vector<DetachedMount>& detached) {
  using Access = RootAccess;
  std::vector<std::pair<std::string, Access>> roots;
  for (const std::string& root : plan_.read_roots) roots.emplace_back(root, Access::read);
  for (const std::string& root : plan_.write_roots) roots.emplace_back(root, Access::write);
  for (const std::string& root : plan_.deny_roots) roots.emplace_back(root, Access::deny);
  // Outer ones first; of several for the same place, the last one counts.
  std::stable_sort(roots.begin(), roots.end(), [](const auto& left, const auto& right) {
    return left.first.size() < right.first.size();
  });
  for (const auto& [root, access] : roots) {
    if (access == Access::deny) {
      hide(root, is_directory(root));
      continue;
    }
    const unsigned long attributes = access == Access::read ? kOfSystem : kOfWorkspace;
    const auto made = std::find_if(detached.begin(), detached.end(),
                                   [&](const DetachedMount& mount) { return mount.path == root; });
    if (made == detached.end()) {
      bind_root(root, attributes);
      continue;
    }
    make_parents(root + "/.");
    add(Kind::attach, inside(root)).descriptor = made->descriptor;
    restrict_mount(inside(root), attributes);
  }
}

// A directory becomes an empty one that cannot be listed. It can be passed through if another root
// lies beneath it, which has its place made here.
void RootSteps::hide(const std::string& path, bool directory) {
  if (!directory) {
    mount(kMask, inside(path), nullptr, kBind);
    restrict_mount(inside(path), kOfSystem);
    return;
  }
  std::vector<std::string> inner;
  for (const auto* roots : {&plan_.read_roots, &plan_.write_roots}) {
    for (const std::string& root : *roots) {
      if (is_beneath(root, path)) inner.push_back(root);
    }
  }
  mount("pawl", inside(path), "tmpfs", kNoSuid | kNoDevices | kNoExecute,
        std::string("size=64k,mode=") + (inner.empty() ? "0000" : "0111"));
  for (const std::string& root : inner) {
    for (std::size_t at = path.size(); at != std::string::npos;) {
      at = root.find('/', at + 1);
      const std::string part = root.substr(0, at);
      const bool file = at == std::string::npos && !is_directory(part);
      add(file ? Kind::make_file : Kind::make_directory, inside(part));
    }
  }
  restrict_mount(inside(path), kOfSystem);
}

// Parents are mounted over themselves, too: a mount point cannot be renamed, what is in it could be
// carried away with it otherwise.
void RootSteps::protect(const std::vector<ProtectedPlace>& places) {
  for (const ProtectedPlace& place : places) {
    if (place.hold == ProtectedPlace::Hold::hidden) {
      hide(place.path, place.is_directory);
      continue;
    }
    mount(inside(place.path), inside(place.path), nullptr, kBind | kRecursive);
    if (place.hold == ProtectedPlace::Hold::read_only) {
      restrict_mount(inside(place.path), kOfSystem);
    }
  }
}

void RootSteps::bind_mounts(const std::vector<DetachedMount>& detached) {
  for (const PlanMount& wanted : plan_.mounts) {
    const unsigned long attributes =
        wanted.access == PlanMount::Access::read ? kOfSystem : kOfWorkspace;
    const auto made = std::ranges::find(detached, wanted.target, &DetachedMount::path);
    if (made == detached.end()) {
      bind(wanted.source, wanted.target, attributes);
      continue;
    }
    make_parents(wanted.target);
    add(is_directory(wanted.source) ? Kind::make_directory : Kind::make_file,
        inside(wanted.target));
    add(Kind::attach, inside(wanted.target)).descriptor = made->descriptor;
    restrict_mount(inside(wanted.target), attributes);
  }
}

// A device on a mount without devices and execution: it can be neither run nor read.
void RootSteps::mask_programs() {
  constexpr unsigned long kOfNothing = kOfSystem | MOUNT_ATTR_NOEXEC;
  for (const std::string& path : plan_.masked) {
    mount(std::string(kOld) + "/dev/null", inside(path), nullptr, kBind);
    restrict_mount(inside(path), kOfNothing);
  }
}

void RootSteps::finish() {
  add(Kind::enter, kNew);
  add(Kind::pivot, ".", ".");
  add(Kind::detach, ".");
  add(Kind::enter, "/");
  Step& step = add(Kind::mount, "/");
  step.flags = kReadOnly | kNoSuid | kNoDevices | kBind | 32;  // MS_REMOUNT
}

void RootSteps::open_rules() {
  rules_.push_back({"/", FileAccess::read});
  rules_.push_back({"/tmp", FileAccess::write});
  rules_.push_back({"/dev/shm", FileAccess::write});
  for (const std::string_view name : kDevices) {
    rules_.push_back({"/dev/" + std::string(name), FileAccess::device});
  }
  for (const std::string& root : plan_.write_roots) rules_.push_back({root, FileAccess::write});
  for (const PlanMount& made : plan_.mounts) {
    if (made.access == PlanMount::Access::write) rules_.push_back({made.target, FileAccess::write});
  }
  for (const LandlockRule& rule : rules_) add(Kind::open, rule.path);
}

}  // namespace pawl::sandbox
