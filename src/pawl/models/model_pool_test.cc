#include "pawl/models/model_pool.h"

#include <doctest/doctest.h>

#include "pawl/models/fake_executor_test.h"

namespace pawl {
namespace {

PooledProvider provider(const std::string& name, std::shared_ptr<FakeExecutor> executor) {
  return {name, std::move(executor), {}, ""};
}

}  // namespace

TEST_CASE("a provider is taken in once, under a name that a literal can begin with") {
  TestLoop loop;
  ModelPool pool(loop);
  const auto executor = std::make_shared<FakeExecutor>(loop);

  CHECK(pool.add(provider("local", executor)));
  const Status twice = pool.add(provider("local", executor));
  REQUIRE_FALSE(twice);
  CHECK(twice.error().code == ErrorCode::conflict);
  for (const char* const name : {"", "A", "a/b", "a b", "1a", "scripted", "external"}) {
    CAPTURE(name);
    const Status refused = pool.add(provider(name, executor));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
  }
  CHECK_FALSE(pool.add(provider("none", nullptr)));
  CHECK_FALSE(pool.add({"idle", executor, {0, 1, 1}, ""}));
  CHECK(pool.find("local") != nullptr);
  CHECK(pool.providers().size() == 1);
}

TEST_CASE("a declaration with no strategy of resuming, or with two, is refused") {
  TestLoop loop;
  ModelPool pool(loop);
  const auto executor = std::make_shared<FakeExecutor>(loop);
  executor->capabilities_.supports_conversation_replay = false;
  CHECK_FALSE(pool.add(provider("none", executor)));
  executor->capabilities_.supports_conversation_replay = true;
  executor->capabilities_.supports_session_resume = true;
  const Status both = pool.add(provider("both", executor));
  REQUIRE_FALSE(both);
  CHECK(both.error().message.find("the provider both: ") == 0);
}

TEST_CASE("two providers with MCP servers of one name are a clash") {
  TestLoop loop;
  ModelPool pool(loop);
  const auto make = [&](const std::string& server) {
    const auto executor = std::make_shared<FakeExecutor>(loop);
    executor->server = McpServerConfig{server, {"serve"}, ""};
    return executor;
  };
  CHECK(pool.add(provider("one", make("files"))));
  const Status clash = pool.add(provider("two", make("files")));
  REQUIRE_FALSE(clash);
  CHECK(clash.error().message == "the providers one and two both have an MCP server files");
  CHECK(pool.add(provider("two", make("notes"))));
}

TEST_CASE("the number of providers is bounded") {
  TestLoop loop;
  ModelPool pool(loop);
  const auto executor = std::make_shared<FakeExecutor>(loop);
  for (std::size_t i = 0; i < kProvidersMax; ++i) {
    REQUIRE(pool.add(provider("p" + std::to_string(i), executor)));
  }
  const Status refused = pool.add(provider("more", executor));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::limit_exceeded);
}

}  // namespace pawl
