#include "pawl/adapter/backend/sandbox/machine.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("everything that a machine may lack is named, and lacking it is no problem") {
  std::string about;
  for (const Finding& finding : examine_machine()) {
    about += finding.about + ";";
    CHECK_FALSE(finding.text.empty());
    CHECK(finding.grade != Finding::Grade::problem);
    CHECK((finding.grade == Finding::Grade::ok) == finding.remedy.empty());
  }
  CHECK(about == "user namespaces;landlock;seccomp;");
}

}  // namespace pawl
