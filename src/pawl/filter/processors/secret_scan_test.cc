#include <doctest/doctest.h>

#include "pawl/filter/processors/processor_test_support.h"
#include "pawl/processor.h"

namespace pawl {

TEST_CASE("what looks like a secret is masked or blocked, and never quoted") {
  const std::string key = "sk-" + std::string("aB3dE6gH9jK2mN5pQ8sT");
  const auto masking = make_secret_scan(OnFinding::mask);
  const auto blocking = make_secret_scan(OnFinding::block);
  CHECK(verdict_on(*masking, "use " + key + "!") == "use [secret]!");
  CHECK(verdict_on(*blocking, key) == "blocked: it holds 1 text that looks like a secret");
  CHECK(verdict_on(*blocking, key + " " + key) ==
        "blocked: it holds 2 texts that look like secrets");
  CHECK(verdict_on(*masking, "sk-short") == "passed");
  CHECK(masking->name() == "secret_scan");
}

}  // namespace pawl
