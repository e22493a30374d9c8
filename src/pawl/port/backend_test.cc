#include "pawl/port/backend.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("levels, networks and outcomes have the names that charters and events use") {
  CHECK(name(IsolationLevel::native) == "native");
  CHECK(name(IsolationLevel::none) == "none");
  CHECK(name(IsolationLevel::landlock) == "landlock");
  CHECK(name(IsolationLevel::namespaces) == "namespace");
  CHECK(name(IsolationLevel::container) == "container");
  CHECK(name(NetworkAccess::none) == "none");
  CHECK(name(NetworkAccess::limited) == "limited");
  CHECK(name(NetworkAccess::full) == "full");
  CHECK(name(BackendOutcome::Kind::ok) == "ok");
  CHECK(name(BackendOutcome::Kind::timed_out) == "timed_out");
  CHECK(name(BackendOutcome::Kind::processes) == "processes");
  CHECK(name(BackendOutcome::Kind::disk) == "disk");
}

}  // namespace
}  // namespace pawl
