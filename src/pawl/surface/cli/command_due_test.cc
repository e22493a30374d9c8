// Commands that go through all runs, with more of them than one page of the list holds.
#include <doctest/doctest.h>

#include "pawl/journal/run_summary.h"
#include "pawl/kernel/codec.h"
#include "pawl/kernel/kernel.h"
#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

constexpr int kRuns = 1'050;  // a page has 1,000
constexpr std::uint64_t kPauseMs = 120'000;

// A run that waits because its provider asked for a pause, at `at_ms`.
struct PausedRun {
  Run run;
  Digest chain;
  MemoryJournal& journal;
  std::int64_t at_ms;

  void then(Event event) {
    auto record = advance(run, std::move(event), {1, at_ms, 0});
    REQUIRE_MESSAGE(record, record.error().message);
    Append append;
    append.run = run->id;
    append.epoch = 1;
    append.seq = record->seq;
    append.bytes = encode_record(*record);
    if (record->seq == 0) chain = chain_origin(run->id);
    append.chain = chain = chain_after(chain, append.bytes);
    append.summary = summary_of(run.state());
    journal.append(std::move(append), [](const Status& status) { CHECK(status); });
  }
};

void write_paused(MemoryJournal& journal, const std::string& id, std::int64_t at_ms) {
  PausedRun paused{{}, {}, journal, at_ms};
  RunStarted start;
  start.run = RunId{id};
  start.name = start.node = "test";
  start.model = "scripted";
  start.input = Content("hello");
  paused.then(start);
  ModelFailed failed;
  failed.effect = paused.run->open.front().id;
  failed.kind = FailureKind::rate_limited;
  failed.retry_after_ms = kPauseMs;
  paused.then(failed);
  paused.then(RunWaiting{});
}

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
