#include "pawl/surface/cli/context.h"

#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {

TEST_CASE("every end of a run has its exit code") {
  CHECK(exit_code_of(RunStatus::done) == 0);
  CHECK(exit_code_of(RunStatus::failed) == 3);
  CHECK(exit_code_of(RunStatus::waiting) == 4);
  CHECK(exit_code_of(RunStatus::stopped) == 5);
  CHECK(exit_code_of(RunStatus::quarantined) == 6);
  CHECK(exit_code_of(RunStatus::cancelled) == 130);
}

TEST_CASE("every error has its exit code") {
  CHECK(exit_code_of(Error{ErrorCode::invalid_argument, ""}) == 2);
  CHECK(exit_code_of(Error{ErrorCode::not_found, ""}) == 1);
  CHECK(exit_code_of(Error{ErrorCode::conflict, ""}) == 1);
  CHECK(exit_code_of(Error{ErrorCode::unavailable, ""}) == 1);
  CHECK(exit_code_of(Error{ErrorCode::corrupt, ""}) == 6);
}

TEST_CASE("complaints go to standard error and cannot act on the terminal") {
  FakeEnvironment environment;
  const CliContext context{environment, {}, {}};

  const int code = fail(context, {ErrorCode::not_found, "no run \x1b[2J"});

  CHECK(code == 1);
  CHECK(environment.screen.out.empty());
  CHECK(environment.screen.err == "pawl: no run \\x1b[2J\n");
}

TEST_CASE("commands that are suggested name the data directory when --data did") {
  FakeEnvironment environment;
  CliContext context{environment, {}, {}};
  CHECK(with_data_flag(context, "go on with: pawl resume r1") == "go on with: pawl resume r1");

  context.settings.data_flag = "my data";

  CHECK(with_data_flag(context, "pawl resolve r1 c1, then pawl resume r1") ==
        "pawl --data 'my data' resolve r1 c1, then pawl --data 'my data' resume r1");
}

TEST_CASE("logs are kept by level") {
  FakeEnvironment environment;
  CliContext context{environment, {}, {}};
  context.settings.log_level = LogLevel::info;

  log(context, LogLevel::debug, "too fine");
  log(context, LogLevel::info, "shown");

  CHECK(environment.logged == std::vector<std::string>{"info: shown"});
}

}  // namespace pawl
