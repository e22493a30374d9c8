#include "pawl/adapter/backend/sandbox/seccomp_filter.h"

#include <doctest/doctest.h>

namespace pawl::sandbox {
namespace {

// What each rule denies is tried inside sandboxes: session/escapes_test.cc.
TEST_CASE("filters are compiled once, and differ by level and network") {
  const auto none = seccomp_program(IsolationLevel::namespaces, NetworkAccess::none);
  const auto again = seccomp_program(IsolationLevel::namespaces, NetworkAccess::none);
  const auto full = seccomp_program(IsolationLevel::namespaces, NetworkAccess::full);
  const auto alone = seccomp_program(IsolationLevel::landlock, NetworkAccess::none);
  REQUIRE(none);
  REQUIRE(again);
  REQUIRE(full);
  REQUIRE(alone);
  CHECK(*none == *again);
  CHECK((*none)->size() > 100);
  CHECK((*none)->size() <= 4096);
  CHECK((*alone)->size() > (*none)->size());
  CHECK((*full)->size() != (*none)->size());
}

}  // namespace
}  // namespace pawl::sandbox
