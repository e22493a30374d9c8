// Commands that go through all runs, with more of them than one page of the list holds.
#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"
#include "pawl/testing/stage/rate_limited_run_test.h"

namespace pawl {
namespace {

constexpr int kRuns = 1'050;  // a page has 1,000

int asked(MemoryEnvironment& environment, std::vector<const char*> words) {
  words.insert(words.begin(), "pawl");
  return run_cli(static_cast<int>(words.size()), words.data(), environment);
}

TEST_CASE("resume --due finds the one run that is due behind a thousand others, and ls counts on") {
  MemoryEnvironment environment;
  environment.script = {{ScriptReply::say("Once."), ScriptReply::say("On again.")}};
  const std::int64_t now_ms = environment.loop.wall_ms();
  write_paused(environment.journal, "due", now_ms - 2 * static_cast<std::int64_t>(kPauseMs));
  for (int i = 0; i < kRuns; ++i) {
    write_paused(environment.journal, "later" + std::to_string(i), now_ms);
  }

  CHECK(asked(environment, {"resume", "--due"}) == 0);

  CHECK(environment.screen.out.find("On again.") != std::string::npos);
  environment.screen.out.clear();
  CHECK(asked(environment, {"ls", "--status", "done"}) == 0);
  CHECK(environment.screen.out.find("due") != std::string::npos);
  const auto lines = [&environment](const std::vector<const char*>& words) {
    environment.screen.out.clear();
    CHECK(asked(environment, words) == 0);
    return std::count(environment.screen.out.begin(), environment.screen.out.end(), '\n');
  };
  CHECK(lines({"ls", "--all", "--json"}) == kRuns + 1);
  CHECK(lines({"ls", "--limit", "1020", "--json"}) == 1'020);
  environment.screen.err.clear();
  CHECK(lines({"ls", "--json"}) == 1'000);
  CHECK(environment.screen.err.find("--all") != std::string::npos);
}

}  // namespace
}  // namespace pawl
