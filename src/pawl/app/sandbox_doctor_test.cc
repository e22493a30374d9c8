#include "pawl/app/sandbox_doctor.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/session/registry.h"
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
  CHECK(findings[3].text == "local can be had; it isolates nothing");
}

}  // namespace pawl
