#include "pawl/adapter/backend/session/sandbox_doctor.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/session/process_backend.h"
#include "tests/support/test_loop.h"

namespace pawl {

TEST_CASE("each level is tried, and one that cannot be had says why and what would help") {
  TestLoop loop;
  const auto findings = examine_sandboxes(loop);
  REQUIRE(findings.size() == 4);
  const char* const names[] = {"namespace", "landlock", "container", "local"};
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    CAPTURE(finding.text);
    CHECK(finding.text.starts_with(names[i]));
    CHECK(finding.about == "sandbox");
    CHECK(finding.grade != Finding::Grade::problem);
    const bool there = bool(backend::make_backend(names[i], loop, {}).value()->probe());
    CHECK(there == (finding.text.find(" can be had") != std::string::npos));
    CHECK(there == finding.remedy.empty());
  }
  CHECK(findings[3].text.find("it isolates nothing: tools have your rights there, can read your "
                              "keys, and can approve calls") != std::string::npos);
}

TEST_CASE("the version of Landlock behind namespaces is named, and what holds without it") {
  using Level = IsolationLevel;
  CHECK(describe_reach({Level::namespaces, 6}) == "namespace, Landlock 6 of 6");
  CHECK(describe_reach({Level::namespaces, 2}) ==
        "namespace, Landlock 2 of 6; mounts, namespaces and seccomp hold what it leaves out");
  CHECK(describe_reach({Level::namespaces, 0}) ==
        "namespace, no Landlock; mounts, namespaces and seccomp hold what it leaves out");
  CHECK(describe_reach({Level::landlock, 6}) == "landlock");
  CHECK(is_complete({Level::container, 0}));
  CHECK_FALSE(is_complete({Level::namespaces, 5}));
}

}  // namespace pawl
