#include "pawl/adapter/provider/provider_executor.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/exchange/fake_http_test.h"
#include "tests/contract/executor_contract.h"

namespace pawl {
namespace {

using provider::FakeHttp;

constexpr ProviderDialect kAll[] = {ProviderDialect::anthropic, ProviderDialect::openai_responses,
                                    ProviderDialect::openai_chat, ProviderDialect::gemini};

TEST_CASE("dialects have names, and nothing else is one") {
  for (const ProviderDialect dialect : kAll) {
    CHECK(parse_provider_dialect(name(dialect)).value() == dialect);
  }
  CHECK_FALSE(parse_provider_dialect("claude"));
}

TEST_CASE("every dialect gives an executor that asks its own path") {
  const std::string paths[] = {"/v1/messages", "/responses", "/chat/completions",
                               ":streamGenerateContent?alt=sse"};
  for (std::size_t i = 0; i < std::size(kAll); ++i) {
    TestLoop loop;
    ProviderConfig config;
    config.name = "some";
    config.dialect = kAll[i];
    config.base_url = "https://api.example.com";
    config.models.emplace_back().id = "model-1";
    const auto http = std::make_shared<FakeHttp>(
        loop, [](const HttpRequest&) { return provider::error_response(500, "{}"); });
    const auto executor = make_provider_executor(config, loop, http);
    CHECK(check_capabilities(executor->capabilities()));
    CHECK(executor->capabilities().supports_conversation_replay);
    contract::ObservedPhase phase;
    phase.execute(*executor);
    loop.run_posted();
    CHECK(phase.outcome<PhaseFailed>().kind == FailureKind::transient);
    REQUIRE(http->requests.size() == 1);
    CHECK(http->requests[0].url.ends_with(paths[i]));
  }
}

TEST_CASE("sessions are resumed where the provider keeps them, else the conversation is replayed") {
  for (const ProviderDialect dialect : kAll) {
    TestLoop loop;
    ProviderConfig config;
    config.dialect = dialect;
    config.resume = ProviderConfig::Resume::session;
    const auto executor = make_provider_executor(config, loop, nullptr);
    CHECK(executor->capabilities().supports_session_resume ==
          (dialect == ProviderDialect::openai_responses));
    CHECK(check_capabilities(executor->capabilities()));
  }
}

}  // namespace
}  // namespace pawl
