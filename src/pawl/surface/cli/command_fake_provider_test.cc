#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

int fake_provider(FakeEnvironment& environment, std::vector<const char*> words) {
  words.insert(words.begin(), {"pawl", "fake-provider"});
  return run_cli(static_cast<int>(words.size()), words.data(), environment);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("fake-provider says where it listens and which variables lead there") {
  FakeEnvironment environment;

  CHECK(fake_provider(environment, {"--port", "9", "--fault", "stall", "--fault", "status: 429"}) ==
        0);

  CHECK(environment.provided.port == 9);
  CHECK(environment.provided.faults == std::vector<std::string>{"stall", "status: 429"});
  CHECK(environment.screen.out.starts_with("listening on http://127.0.0.1:9\n"));
  CHECK(holds(environment.screen.out, "export ANTHROPIC_BASE_URL=http://127.0.0.1:9\n"));
  CHECK(holds(environment.screen.out, "export OPENAI_BASE_URL=http://127.0.0.1:9/v1\n"));
  CHECK(holds(environment.screen.out, "export OLLAMA_HOST=http://127.0.0.1:9/ollama\n"));
  CHECK(environment.screen.out.ends_with("3 requests\n"));
}

TEST_CASE("with --print-env it prints nothing but variables, with --json nothing but JSON") {
  FakeEnvironment shell;
  CHECK(fake_provider(shell, {"--print-env"}) == 0);
  CHECK(shell.screen.out.starts_with("export "));
  CHECK(!holds(shell.screen.out, "listening"));
  CHECK(!holds(shell.screen.out, "requests"));

  FakeEnvironment program;
  CHECK(fake_provider(program, {"--json"}) == 0);
  CHECK(program.screen.out.starts_with(R"({"listening":"http://127.0.0.1:9","environment":{)"));
  CHECK(program.screen.out.ends_with("{\"requests\":3}\n"));
}

TEST_CASE("options that contradict each other are bad usage") {
  using Words = std::vector<const char*>;
  for (const Words& words : {Words{"--record", "f"}, Words{"--upstream", "u"},
                             Words{"--replay", "f", "--record", "g", "--upstream", "u"},
                             Words{"--replay", "f", "--fault", "stall"}, Words{"--port", "65536"},
                             Words{"--port", "x"}, Words{"--script", "wrong"}}) {
    FakeEnvironment environment;
    CHECK_MESSAGE(fake_provider(environment, words) == 2, words[0]);
    CHECK(!environment.screen.err.empty());
  }
}

}  // namespace
}  // namespace pawl
