#include "pawl/adapter/backend/sandbox/seccomp_profile.h"

#include <asm/ioctls.h>
#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/backend/sandbox/seccomp_lists.h"

namespace pawl::sandbox {
namespace {

struct Argument {
  std::uint64_t index = 0;
  std::uint64_t value = 0;
  std::uint64_t mask = 0xFFFF'FFFFU;  // what is above 32 bits does not count for the kernel either
};

Json rule(const JsonArray& names, int error, const std::vector<Argument>& arguments) {
  JsonObject made;
  made.set("names", names);
  made.set("action", "SCMP_ACT_ERRNO");
  made.set("errnoRet", std::uint64_t(static_cast<unsigned>(error)));
  JsonArray conditions;
  for (const Argument& argument : arguments) {
    JsonObject condition;
    condition.set("index", argument.index);
    condition.set("value", argument.mask);
    condition.set("valueTwo", argument.value);
    condition.set("op", "SCMP_CMP_MASKED_EQ");
    conditions.push_back(std::move(condition));
  }
  if (!conditions.empty()) made.set("args", std::move(conditions));
  return made;
}

}  // namespace

Json seccomp_profile() {
  JsonArray names;
  for (const char* name : kDenied) names.emplace_back(name);
  JsonArray rules = {rule(names, EPERM, {}), rule({"clone3", "openat2"}, ENOSYS, {}),
                     rule({"fallocate"}, EOPNOTSUPP, {})};
  for (const int family : {AF_UNIX, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK, AF_XDP}) {
    rules.push_back(rule({"socket"}, EPERM, {{0, static_cast<std::uint64_t>(family)}}));
  }
  for (const int kind : {SOCK_DGRAM, SOCK_RAW}) {
    constexpr std::uint64_t kKinds = 0xF;
    rules.push_back(rule({"socketpair"}, EPERM, {{1, static_cast<std::uint64_t>(kind), kKinds}}));
  }
  for (const int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                         CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    const auto bit = static_cast<std::uint64_t>(flag);
    rules.push_back(rule({"clone"}, EPERM, {{0, bit, bit}}));
  }
  for (const int request : {TIOCSTI, TIOCLINUX}) {
    rules.push_back(rule({"ioctl"}, EPERM, {{1, static_cast<std::uint64_t>(request)}}));
  }
  JsonObject profile;
  profile.set("defaultAction", "SCMP_ACT_ALLOW");
  profile.set("syscalls", std::move(rules));
  return profile;
}

}  // namespace pawl::sandbox
