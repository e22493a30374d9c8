#include "pawl/adapter/backend/sandbox/sandbox_plan.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "pawl/adapter/backend/sandbox/system_paths.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/link_free_path.h"
#include "pawl/base/path_text.h"

namespace pawl::sandbox {
namespace {

// "/a/b", without "//", ".", "..", a slash at the end or a NUL.
bool is_plain_absolute(std::string_view path) {
  if (path.size() < 2 || path.size() > kPathBytesMax || path.front() != '/') return false;
  if (path.back() == '/' || path.find('\0') != std::string_view::npos) return false;
  std::string_view rest = path.substr(1);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return true;
}

Error fault(const std::string& what, const std::string& path, const std::string& remedy) {
  return {ErrorCode::invalid_argument, what + " " + path + ": " + remedy};
}

Result<Descriptor> open_directory(const std::string& what, const std::string& path) {
  if (!is_plain_absolute(path)) {
    return fault(what, path, "name an absolute path without '..', '.' or a slash at the end");
  }
  auto found = open_link_free(path, O_PATH);
  if (found) return found;
  const bool absent = found.error().code == ErrorCode::not_found;
  return Error{found.error().code,
               what + " " + path + ": " + found.error().message + (absent ? " (create it)" : "")};
}

Status check_directory(const std::string& what, const std::string& path) {
  PAWL_TRY(const Descriptor found, open_directory(what, path));
  return ok();
}

Status check_same(const HeldRoots& before, const HeldRoots& now) {
  for (const HeldRoot& root : now) {
    const auto old = std::ranges::find(before, root.path, &HeldRoot::path);
    struct stat held{};
    struct stat named{};
    if (old == before.end()) continue;
    if (::fstat(old->object.number(), &held) == 0 && ::fstat(root.object.number(), &named) == 0 &&
        held.st_dev == named.st_dev && held.st_ino == named.st_ino) {
      continue;
    }
    return fault("root", root.path,
                 "it is not the one with which the session began (put that back, or start a new "
                 "session)");
  }
  return ok();
}

Status check_protected(const std::string& name) {
  if (is_plain_absolute("/" + name)) return ok();
  return fault("protected name", name, "name a path relative to the roots, without '..'");
}

Status check_working_directory(const SandboxPlan& plan) {
  PAWL_CHECK(check_directory("working directory", plan.working_directory));
  const RootAccess access = access_at(plan, plan.working_directory);
  if (access == RootAccess::read || access == RootAccess::write) return ok();
  return fault("working directory", plan.working_directory,
               "it lies beneath none of the roots (add it to the write roots or the read roots)");
}

bool is_seen_inside(const std::string& path, const SandboxPlan& plan) {
  const auto holds = [&path](const auto& root) { return is_within(path, std::string(root)); };
  return std::ranges::any_of(kSystemDirectories, holds) ||
         std::ranges::any_of(plan.read_roots, holds) ||
         std::ranges::any_of(plan.write_roots, holds);
}

}  // namespace

RootAccess access_at(const SandboxPlan& plan, std::string_view path) {
  RootAccess access = RootAccess::none;
  std::size_t longest = 0;
  const auto look = [&](const std::vector<std::string>& roots, RootAccess of_these) {
    for (const std::string& root : roots) {
      if (!is_within(path, root) || root.size() < longest) continue;
      access = of_these;
      longest = root.size();
    }
  };
  look(plan.read_roots, RootAccess::read);
  look(plan.write_roots, RootAccess::write);
  look(plan.deny_roots, RootAccess::deny);
  return access;
}

std::vector<std::string> places_of(const SandboxPlan& plan) {
  std::vector<std::string> places;
  const auto add = [&places](std::string path) {
    if (std::ranges::find(places, path) == places.end()) places.push_back(std::move(path));
  };
  for (const std::string& root : plan.write_roots) add(root);
  for (const std::string& root : plan.write_roots) {
    if (!is_beneath(plan.working_directory, root)) continue;
    for (std::size_t at = root.size(); at != std::string::npos;) {
      at = plan.working_directory.find('/', at + 1);
      add(plan.working_directory.substr(0, at));
    }
  }
  return places;
}

int held_root(const SandboxPlan& plan, std::string_view path) {
  if (!plan.held) return -1;
  const auto root = std::ranges::find(*plan.held, path, &HeldRoot::path);
  return root == plan.held->end() ? -1 : root->object.number();
}

Status hold_roots(SandboxPlan& plan) {
  HeldRoots held;
  for (const std::string& root : plan.write_roots) {
    PAWL_TRY(Descriptor object, open_directory("write root", root));
    held.push_back({root, std::move(object)});
  }
  for (const std::string& root : plan.read_roots) {
    PAWL_TRY(Descriptor object, open_directory("read root", root));
    held.push_back({root, std::move(object)});
  }
  plan.held = std::make_shared<const HeldRoots>(std::move(held));
  return ok();
}

Result<SandboxPlan> make_sandbox_plan(const ExecutionContext& context, IsolationLevel level,
                                      std::shared_ptr<const HeldRoots> before) {
  SandboxPlan plan{level,
                   context.working_directory,
                   context.write_roots,
                   context.read_roots,
                   context.protected_names,
                   context.network.access,
                   context.limits};
  plan.hidden_names = context.hidden_names;
  plan.protected_places = context.protected_places;
  plan.deny_roots = context.deny_roots;
  for (const std::string& name : context.asked_names) plan.protected_names.push_back(name);
  if (plan.write_roots.size() + plan.read_roots.size() + plan.deny_roots.size() > kRootsMax ||
      plan.protected_names.size() + plan.hidden_names.size() > kProtectedNamesMax) {
    return Error{ErrorCode::limit_exceeded, "too many roots (64 at most) or protected names (256)"};
  }
  PAWL_CHECK(hold_roots(plan));
  if (before) {
    PAWL_CHECK(check_same(*before, *plan.held));
    plan.held = std::move(before);
  }
  for (const std::string& root : plan.deny_roots) PAWL_CHECK(check_directory("deny root", root));
  for (const std::string& name : plan.protected_names) PAWL_CHECK(check_protected(name));
  for (const std::string& name : plan.hidden_names) PAWL_CHECK(check_protected(name));
  PAWL_CHECK(check_working_directory(plan));
  for (const std::string& path : context.masked_programs) {
    if (is_plain_absolute(path) && is_seen_inside(path, plan)) plan.masked.push_back(path);
  }
  return plan;
}

}  // namespace pawl::sandbox
