#include "pawl/adapter/backend/session/backend_test_support.h"
#include "pawl/adapter/backend/session/native_backend.h"
#include "tests/contract/backend_contract.h"

namespace pawl::backend {
namespace {

TEST_CASE("backends are found by name, and an unknown one is told which there are") {
  TestLoop loop;
  for (const char* name :
       {"container", "docker", "landlock", "local", "namespace", "native", "podman", "runc"}) {
    const auto made = make_backend(name, loop, test_options());
    REQUIRE(made);
    CHECK((*made)->name() == name);
  }
  const auto unknown = make_backend("nowhere", loop, test_options());
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(contract::holds(unknown.error().message,
                        "container, docker, landlock, local, namespace, native, podman, runc"));
}

TEST_CASE("a host's own backend is registered once, and held to the contract like the others") {
  const auto factory = [](Loop& loop, const BackendOptions& options) {
    return make_native_backend(loop, options);
  };
  REQUIRE(register_backend("mine", factory));
  CHECK(register_backend("mine", factory).error().code == ErrorCode::conflict);
  CHECK_FALSE(register_backend("", factory));
  CHECK_FALSE(register_backend("empty", nullptr));
  contract::BackendSubject subject;
  subject.programs = contract::BackendSubject::Programs::none;
  subject.make = [](Loop& loop) { return *make_backend("mine", loop, test_options()); };
  contract::check_backend_contract(subject);
}

}  // namespace
}  // namespace pawl::backend
