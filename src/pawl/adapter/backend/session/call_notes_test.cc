#include "pawl/adapter/backend/session/call_notes.h"

#include <doctest/doctest.h>

namespace pawl::backend {
namespace {

using Kind = BackendOutcome::Kind;

TEST_CASE("each limit has a sentence with its number, and a call's own end has none") {
  PumpLimits limits{1'500, {}, TreeWatch::Past::counts, nullptr};
  limits.session.disk_bytes = 77;
  CHECK(describe_limit(Kind::timed_out, limits) ==
        "[The call was ended, with all that it had started: it ran into its limit of 1500 ms.]\n");
  CHECK(describe_limit(Kind::disk, limits).find("more than 77 bytes") != std::string::npos);
  for (const Kind kind : {Kind::aborted, Kind::memory, Kind::cpu, Kind::processes}) {
    CHECK_FALSE(describe_limit(kind, limits).empty());
  }
  for (const Kind kind : {Kind::ok, Kind::failed, Kind::denied}) {
    CHECK(describe_limit(kind, limits).empty());
  }
}

TEST_CASE("each name that was put aside has a line") {
  CHECK(describe_denial({}).empty());
  CHECK(describe_denial({"one", "two"}) == "[Denied: one.]\n[Denied: two.]\n");
}

}  // namespace
}  // namespace pawl::backend
