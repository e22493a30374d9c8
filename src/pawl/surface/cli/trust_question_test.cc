#include "pawl/surface/cli/trust_question.h"

#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {

TEST_CASE("unattended nobody trusts anything, and what failed stays failed") {
  FakeEnvironment environment;
  environment.questions = {{"/w/a.yaml", "why", "", "abc"}};
  const CliContext context{environment, {}, {}};
  int attempts = 0;
  const Status resumed = resume_trusted(context, [&]() -> Status {
    ++attempts;
    return Error{ErrorCode::invalid_argument, "not trusted"};
  });
  CHECK_FALSE(resumed);
  CHECK(attempts == 1);
  CHECK(environment.trusted.empty());
}

TEST_CASE("what is taken up without a fault asks nothing") {
  FakeEnvironment environment;
  environment.questions = {{"/w/a.yaml", "why", "", "abc"}};
  const CliContext context{environment, {}, {}};
  CHECK(resume_trusted(context, [] { return ok(); }));
  CHECK(read_trusted_agent(context, "x.yaml").faults.size() == 2);
  CHECK(environment.trusted.empty());
}

}  // namespace pawl
