// A host that asks a real provider's API, with the public headers alone.
#include <doctest/doctest.h>

#include "pawl/pawl.h"
#include "pawl/testing/fake_provider/fake_provider.h"

namespace pawl {
namespace {

std::unique_ptr<FakeProvider> saying(const std::string& text) {
  FakeProviderOptions options;
  options.script = fake::FakeScript({fake::FakeReply::say(text)});
  auto started = FakeProvider::start(std::move(options));
  REQUIRE(started);
  return *std::move(started);
}

TEST_CASE("a run asks the provider that the host names, with the host's key") {
  const auto provider = saying("Hello.");
  int asked = 0;
  Runner runner;
  ProviderAccess access;
  access.provider = "anthropic";
  access.base_url = provider->base_url();
  access.key = [&asked]() -> Result<std::string> {
    ++asked;
    return std::string("a-key");
  };
  const auto executor = make_provider(std::move(access), *runner.sockets());
  REQUIRE(executor);
  RunnableAgent agent;
  agent.charter.name = "greeter";
  agent.charter.instructions = "Greet.";
  agent.charter.model = "claude-sonnet-4-5";
  agent.executor = *executor;

  const Runner::Result result = runner.run(agent, "Hi");

  CHECK(result.error.empty());
  CHECK(result.output == "Hello.");
  CHECK(asked > 0);
  REQUIRE(provider->requests().size() == 1);
  CHECK(provider->requests().front().model == "claude-sonnet-4-5");
}

TEST_CASE("an unknown provider, and one without the key that it wants, are errors with a remedy") {
  Runner runner;
  const auto unknown = make_provider({.provider = "nobody"}, *runner.sockets());
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(unknown.error().message.find("anthropic, openai") != std::string::npos);
  const auto without = make_provider({.provider = "openai"}, *runner.sockets());
  REQUIRE_FALSE(without);
  CHECK(without.error().message == "openai wants a key: give one");
  CHECK(make_provider({.provider = "ollama"}, *runner.sockets()));
}

}  // namespace
}  // namespace pawl
