#include "pawl/adapter/backend/sandbox/seccomp_profile.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/backend/sandbox/seccomp_lists.h"

namespace pawl::sandbox {
namespace {

constexpr std::uint64_t kWord = 0xFFFF'FFFFU;  // what is above does not count for the kernel either
constexpr unsigned kWordBits = 32;

struct Argument {
  std::uint64_t index = 0;
  std::uint64_t value = 0;
  std::uint64_t mask = kWord;
};

Json rule_for(const JsonArray& names, std::string action, const std::vector<Argument>& arguments) {
  JsonObject made;
  made.set("names", names);
  made.set("action", std::move(action));
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

Json allow(const JsonArray& names, const std::vector<Argument>& arguments = {}) {
  return rule_for(names, "SCMP_ACT_ALLOW", arguments);
}

Json refuse(const JsonArray& names, int error) {
  JsonObject made = rule_for(names, "SCMP_ACT_ERRNO", {}).object();
  made.set("errnoRet", std::uint64_t(static_cast<unsigned>(error)));
  return made;
}

// Conditions that together hold for every value of 32 bits but these: halves of what is left are
// taken until none of the values is in them.
void cover_all_but(const std::vector<std::uint64_t>& values, Argument half, unsigned bits,
                   std::vector<Argument>& covers) {
  const bool clean = std::none_of(values.begin(), values.end(), [&](std::uint64_t value) {
    return (value & half.mask) == half.value;
  });
  if (clean) return covers.push_back(half);
  if (bits == kWordBits) return;
  const std::uint64_t bit = std::uint64_t{1} << (kWordBits - 1 - bits);
  half.mask |= bit;
  cover_all_but(values, half, bits + 1, covers);
  half.value |= bit;
  cover_all_but(values, half, bits + 1, covers);
}

void add_requests(JsonArray& rules) {
  std::vector<std::uint64_t> requests(kAllotmentRequests.begin(), kAllotmentRequests.end());
  for (const int request : kTerminalRequests) {
    requests.push_back(static_cast<std::uint64_t>(request));
  }
  std::vector<Argument> covers;
  cover_all_but(requests, {1, 0, 0}, 0, covers);
  for (const Argument& cover : covers) rules.push_back(allow({"ioctl"}, {cover}));
}

// What is allowed on a condition only.
JsonArray conditional_rules() {
  JsonArray rules;
  for (const ModeArgument& mode : kModes) {
    rules.push_back(allow({mode.name}, {{mode.argument, 0, S_ISUID | S_ISGID}}));
  }
  for (const int family : {AF_INET, AF_INET6}) {
    rules.push_back(allow({"socket"}, {{0, static_cast<std::uint64_t>(family)}}));
  }
  for (const int kind : {SOCK_STREAM, SOCK_SEQPACKET}) {
    constexpr std::uint64_t kKinds = 0xF;
    rules.push_back(allow({"socketpair"}, {{1, static_cast<std::uint64_t>(kind), kKinds}}));
  }
  constexpr auto kSpaces =
      static_cast<std::uint64_t>(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                 CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP);
  rules.push_back(allow({"clone"}, {{0, 0, kSpaces}}));
  add_requests(rules);
  return rules;
}

// Every call of this machine that has a name, but those that there are rules for.
JsonArray plain_names() {
  std::set<std::string> other = {"socket", "socketpair", "clone", "ioctl", "fallocate"};
  other.insert(kDenied.begin(), kDenied.end());
  other.insert(kUnknown.begin(), kUnknown.end());
  for (const ModeArgument& mode : kModes) other.insert(mode.name);
  JsonArray names;
  for (int number = 0; number <= kNewestKnown; ++number) {
    char* name = ::seccomp_syscall_resolve_num_arch(::seccomp_arch_native(), number);
    if (name == nullptr) continue;
    if (!other.contains(name) && std::string(name) != "fchmodat2") names.emplace_back(name);
    std::free(name);  // NOLINT(cppcoreguidelines-no-malloc): libseccomp's
  }
  return names;
}

}  // namespace

Json seccomp_profile() {
  JsonArray denied;
  for (const char* name : kDenied) denied.emplace_back(name);
  JsonArray unknown;
  for (const char* name : kUnknown) unknown.emplace_back(name);
  JsonArray rules = {allow(plain_names()), refuse(denied, EPERM), refuse(unknown, ENOSYS),
                     refuse({"fallocate"}, EOPNOTSUPP)};
  for (Json& rule : conditional_rules()) rules.push_back(std::move(rule));
  JsonObject profile;
  profile.set("defaultAction", "SCMP_ACT_ERRNO");
  profile.set("defaultErrnoRet", std::uint64_t{ENOSYS});
  profile.set("syscalls", std::move(rules));
  return profile;
}

}  // namespace pawl::sandbox
