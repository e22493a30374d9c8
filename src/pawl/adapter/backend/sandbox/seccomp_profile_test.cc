#include "pawl/adapter/backend/sandbox/seccomp_profile.h"

#include <doctest/doctest.h>

#include <string>

namespace pawl::sandbox {
namespace {

// What engines make of it is tried by session/container_test.cc.
TEST_CASE("the profile of containers allows what it does not name") {
  const std::string text = write_json(seccomp_profile());
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  CHECK(has("\"defaultAction\":\"SCMP_ACT_ALLOW\""));
  CHECK(has("\"io_uring_setup\""));
  CHECK(has("\"socketpair\""));
  CHECK_FALSE(has("\"read\""));
}

}  // namespace
}  // namespace pawl::sandbox
