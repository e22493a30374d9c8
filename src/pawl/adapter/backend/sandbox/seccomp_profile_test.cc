#include "pawl/adapter/backend/sandbox/seccomp_profile.h"

#include <asm/ioctls.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace pawl::sandbox {
namespace {

struct Condition {
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
};

// What engines make of it is tried by session/container_test.cc and the corpora beside it.
TEST_CASE("the profile of containers allows what it names") {
  const Json profile = seccomp_profile();
  const std::string text = write_json(profile);
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  CHECK(has(R"("defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":38)"));
  CHECK(has("\"read\""));
  CHECK(has("\"execve\""));
  CHECK_FALSE(has("\"fchmodat2\""));
  const Json& plain = profile.object().find("syscalls")->array().front();
  CHECK(plain.object().find("names")->array().size() > 200);
  const std::string allowed = write_json(plain);
  for (const char* name : {"\"io_uring_setup\"", "\"socket\"", "\"clone3\"", "\"chmod\"",
                           "\"ioctl\"", "\"unshare\"", "\"fallocate\""}) {
    CAPTURE(name);
    CHECK(allowed.find(name) == std::string::npos);
  }
}

TEST_CASE("every request to a device is allowed but those that speak for somebody or allot space") {
  const Json profile = seccomp_profile();
  std::vector<Condition> conditions;
  for (const Json& rule : profile.object().find("syscalls")->array()) {
    if (write_json(*rule.object().find("names")) != R"(["ioctl"])") continue;
    const JsonObject& condition = rule.object().find("args")->array().front().object();
    const auto number = [&](const char* member) {
      return static_cast<std::uint64_t>(condition.find(member)->as_int64().value());
    };
    conditions.push_back({number("value"), number("valueTwo")});
  }
  const auto is_allowed = [&](std::uint64_t request) {
    for (const Condition& condition : conditions) {
      if ((request & condition.mask) == condition.value) return true;
    }
    return false;
  };
  for (std::uint64_t request = 0x5000; request < 0x6000; ++request) {
    const bool speaks =
        request == TIOCSTI || request == TIOCLINUX || request == TIOCSETD || request == TIOCCONS;
    CHECK(is_allowed(request) == !speaks);
    CHECK(is_allowed(request | (std::uint64_t{1} << 32U)) == !speaks);
  }
  for (std::uint64_t request = 0x4030'5800; request < 0x4030'5900; ++request) {
    const bool allots = request == 0x4030'5828 || request == 0x4030'582A || request == 0x4030'5839;
    CHECK(is_allowed(request) == !allots);
  }
  CHECK(is_allowed(0));
  CHECK(is_allowed(0xFFFF'FFFF));
}

}  // namespace
}  // namespace pawl::sandbox
