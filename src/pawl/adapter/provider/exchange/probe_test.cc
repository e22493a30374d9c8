#include "pawl/adapter/provider/exchange/exchange.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/exchange/phase_stage_test.h"

namespace pawl::provider {
namespace {

TEST_CASE("a connection is tested with one request that says whether the key is taken") {
  const auto test = [](HttpScript script) {
    PhaseStage stage(std::move(script));
    stage.begin();
    std::vector<Status> ends;
    const auto operation =
        stage.executor->test_connection([&](const Status& status) { ends.push_back(status); });
    CHECK(ends.empty());
    stage.loop.run_posted();
    REQUIRE(ends.size() == 1);
    CHECK(stage.http->requests.back().method == "GET");
    return ends[0];
  };
  CHECK(test({http_head(200, "application/json"), std::string("{}"), HttpEnd{}}));
  const Status refused = test(error_response(401, R"({"error":{"message":"no"}})"));
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(test({HttpEnd{HttpFailure::connect, "refused"}}).error().code == ErrorCode::unavailable);
}

TEST_CASE("a test that is given up says so once; one that is destroyed says nothing") {
  PhaseStage stage({http_head(200, "application/json")});  // It never ends.
  stage.begin();
  std::vector<Status> ends;
  const auto note = [&](const Status& status) { ends.push_back(status); };
  auto operation = stage.executor->test_connection(note);
  stage.loop.run_posted();
  operation->abort();
  operation->abort();
  CHECK(ends.empty());
  stage.loop.run_posted();
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].error().code == ErrorCode::cancelled);
  operation = stage.executor->test_connection(note);
  operation.reset();
  stage.loop.run_posted();
  CHECK(ends.size() == 1);
}

TEST_CASE("without a key the test of a connection sends nothing") {
  PhaseStage stage({HttpEnd{}});
  stage.config.key = std::make_shared<FakeSecret>(Error{ErrorCode::not_found, "set SOME_KEY"});
  stage.begin();
  const std::size_t before = stage.http->requests.size();
  std::vector<Status> ends;
  const auto operation =
      stage.executor->test_connection([&](const Status& status) { ends.push_back(status); });
  CHECK(ends.empty());
  stage.loop.run_posted();
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].error().message == "set SOME_KEY");
  CHECK(stage.http->requests.size() == before);
}

}  // namespace
}  // namespace pawl::provider
