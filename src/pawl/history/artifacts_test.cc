#include "pawl/history/artifacts.h"

#include <doctest/doctest.h>

#include "pawl/service/housekeeping.h"
#include "pawl/testing/stage/exported_run_test.h"
#include "pawl/testing/stage/model_stage_test.h"
#include "pawl/testing/stage/recorded_run_test.h"

namespace pawl {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kApartMs = 20'000;

// Two notes, the second so long after the first.
Script notes_apart() {
  ScriptReply second = ScriptReply::call("note", R"({"text":"second"})");
  second.delay_ms = kApartMs;
  return scripted(
      {ScriptReply::call("note", R"({"text":"first"})"), second, ScriptReply::say("All noted.")});
}

struct Shelf {
  RunStage stage{notes_apart()};
  Housekeeping housekeeping{stage.service};
  RunId run{"r"};

  Shelf() { stage.tool->padding = std::string(5'000, 'x'); }

  void play() {
    stage.start("r");
    stage.loop.advance(kApartMs + 300);
    REQUIRE(stage.service.show(run)->summary.status == "done");
  }
  std::vector<Artifact> artifacts() { return *artifacts_of(stage.journal, run); }
  // Lets go what is older than `age_ms`; how many outputs that was.
  std::size_t expire(std::int64_t age_ms, Force force = Force::no) {
    const auto found = housekeeping.choose_artifacts({age_ms, force});
    REQUIRE(found);
    std::size_t outputs = 0;
    for (const OldArtifacts& old : *found) {
      REQUIRE_FALSE(old.fault);
      outputs += old.blobs.size();
      std::optional<Status> done;
      housekeeping.expire(old, [&](const Status& status) { done = status; });
      stage.loop.run_posted();
      REQUIRE(done);
      CHECK(*done);
    }
    return outputs;
  }
};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<Artifact> artifacts_of(const RecordedRun& told) {
  TestLoop loop;
  MemoryJournal journal(loop);
  told.write(journal, loop);
  return *artifacts_of(journal, told.run->id);
}

}  // namespace

TEST_CASE("outputs of tools are listed with call, time, digest and length") {
  Shelf shelf;
  shelf.play();

  const std::vector<Artifact> found = shelf.artifacts();

  REQUIRE(found.size() == 2);
  const std::string first = shelf.stage.tool->padding + "noted 1";
  CHECK(found[0].call == CallId{1});
  CHECK(found[0].digest == sha256(first));
  CHECK(found[0].bytes == first.size());
  CHECK(found[0].need == Artifact::Need::none);
  CHECK(found[1].call == CallId{2});
  CHECK(found[1].at_ms - found[0].at_ms >= kApartMs);
}

TEST_CASE("only outputs older than the age go, and verify, replay and reading say so") {
  Shelf shelf;
  shelf.play();
  const Digest chain = shelf.stage.chain(shelf.run);

  CHECK(shelf.expire(kDayMs) == 0);
  CHECK(shelf.expire(kApartMs / 2) == 1);
  CHECK(shelf.expire(kApartMs / 2) == 0);

  const std::vector<Artifact> found = shelf.artifacts();
  CHECK(found[0].expired_at_ms == shelf.stage.loop.wall_ms());
  CHECK_FALSE(found[1].expired_at_ms);
  CHECK(says(shelf.stage.journal.blob(shelf.run, found[0].digest).error().message, "expired on "));
  const auto verified = shelf.stage.service.verify(shelf.run);
  CHECK(verified->damage.empty());
  CHECK(verified->blobs == 2);
  CHECK(verified->expired == 1);
  const auto replayed = shelf.stage.service.replay(shelf.run);
  CHECK(replayed->same());
  CHECK(replayed->blobs == 2);
  CHECK(replayed->expired == 1);
  CHECK(replayed->chain == chain);
  CHECK(shelf.stage.service.show(shelf.run)->output == "All noted.");
}

TEST_CASE("an output that came twice is as old as the second") {
  Shelf shelf;
  shelf.stage.tool->same = std::string(5'000, 'x');
  shelf.play();
  REQUIRE(shelf.artifacts().size() == 1);

  CHECK(shelf.expire(kApartMs / 2) == 0);
  shelf.stage.loop.advance(kApartMs);
  CHECK(shelf.expire(kApartMs / 2) == 1);
}

TEST_CASE("an output that came twice is in an export once, and can be imported") {
  Shelf shelf;
  shelf.stage.tool->same = std::string(5'000, 'x');
  shelf.play();
  const Exported file = exported(shelf.stage, "r");
  CHECK(file.report.blobs == 1);
  RunStage there(notes_apart());
  CHECK(imported(there, file.text));
}

TEST_CASE("an output of exactly the age stays") {
  Artifact artifact;
  artifact.need = Artifact::Need::none;
  artifact.at_ms = 1'000;
  CHECK_FALSE(may_expire(artifact, 1'000));
  CHECK(may_expire(artifact, 1'001));
}

TEST_CASE("an export marks what expired, and an import knows it") {
  Shelf shelf;
  shelf.play();
  REQUIRE(shelf.expire(kApartMs / 2) == 1);
  const Exported file = exported(shelf.stage, "r");
  CHECK(file.report.blobs == 2);
  CHECK(file.report.expired == 1);
  CHECK(says(file.text, "\"expired_at_ms\":" + std::to_string(shelf.stage.loop.wall_ms())));
  RunStage there(notes_apart());

  const auto taken = imported(there, file.text);

  REQUIRE(taken);
  CHECK(taken->expired == 1);
  CHECK(taken->look_only.empty());
  CHECK(there.service.verify(shelf.run)->damage.empty());
  CHECK(there.service.verify(shelf.run)->expired == 1);
  CHECK(there.service.replay(shelf.run)->same());
  CHECK(there.records(shelf.run) == shelf.stage.records(shelf.run));
}

TEST_CASE("a fork is refused where the model would go on without what it had read") {
  Shelf shelf;
  shelf.play();
  REQUIRE(shelf.expire(kApartMs / 2) == 1);
  const auto fork = [&](std::uint64_t step, std::vector<ForkEdit> edits) {
    std::optional<std::string> answer;
    shelf.stage.service.fork(
        {shelf.run, step, std::move(edits), "", std::nullopt, "ann"},
        [&](const Result<Forked>& forked) { answer = forked ? "ok" : forked.error().message; });
    shelf.stage.loop.advance(300);
    REQUIRE(answer);
    return *answer;
  };

  const std::string refused = fork(1, {});

  CHECK_MESSAGE(says(refused, "cannot be forked at: of record 2"), refused);
  CHECK(says(refused, "expired on "));
  CHECK(shelf.stage.service.list({})->size() == 1);  // and left no trace
  CHECK(fork(0, {}) == "ok");
  CHECK(fork(1, {{"c1", "what it said"}}) == "ok");
}

TEST_CASE("a run that is driven or may go on keeps what its conversation is made of") {
  Shelf shelf;
  shelf.stage.start("r");  // its second reply takes a while
  shelf.stage.loop.advance(kApartMs / 2);

  CHECK(shelf.expire(0) == 0);
  CHECK(shelf.expire(0, Force::yes) == 0);
  CHECK(shelf.artifacts().front().need == Artifact::Need::kept);

  // Nobody drives it: as after a crash.
  RunStage later(notes_apart());
  write_journal(later.journal, later.loop, shelf.run, decoded(shelf.stage.records(shelf.run)),
                {StoredBlob{shelf.artifacts()[0].digest,
                            *shelf.stage.journal.blob(shelf.run, shelf.artifacts()[0].digest)}});
  const auto forced = Housekeeping(later.service).choose_artifacts({0, Force::yes});
  REQUIRE(forced);
  REQUIRE(forced->size() == 1);
  CHECK(forced->front().blobs.empty());
}

TEST_CASE("of a run that waits, force lets go what a summary has replaced") {
  ModelStage stage;
  const auto tool = std::make_shared<CountingTool>(stage.loop);
  tool->padding = std::string(5'000, 'x');
  stage.agent.tools.push_back(tool);
  stage.agent.targets.resize(1);
  stage.agent.targets[0].facts.context_tokens = 2'500;
  stage.agent.targets[0].facts.max_output_tokens = 100;
  stage.agent.charter.compaction.keep_messages = 1;
  stage.model->usage = {};
  stage.model->more = {ToolCallProposed{"note", "{}", "c1"}};
  stage.model->line_up("I ask.", ReplyStop::tool_use);
  stage.model->line_up(std::string(1'500, 'a'), ReplyStop::pause_turn);
  stage.model->line_up("It noted.");  // the summary
  stage.model->line_up_failure(FailureKind::rate_limited, 600'000);
  REQUIRE(stage.start());
  REQUIRE_MESSAGE(stage.listed().status == "waiting", *stage.service.explain(stage.id));
  const auto artifacts = artifacts_of(stage.journal, stage.id);
  REQUIRE(artifacts);
  REQUIRE(artifacts->size() == 1);

  CHECK(artifacts->front().need == Artifact::Need::none);
}

TEST_CASE("what a tool reported too late is an output like any other") {
  RecordedRun told;
  told.calls({"once"});
  const EffectId attempt = told.open(EffectKind::tool);
  told.then(told.finished(CallId{1}, attempt, "too slow", ToolEnd::timed_out));
  ResultCameLate came;
  came.call = CallId{1};
  came.effect = attempt;
  came.content = told.ingress.keep(std::string(5'000, 'l'));
  told.then(came);
  CHECK(artifacts_of(told).front().need == Artifact::Need::kept);  // Somebody has to decide.
  told.then(CancelRequested{"ann", ""});
  told.then(RunFinished{told.open(EffectKind::end_agent), {}});

  const std::vector<Artifact> found = artifacts_of(told);

  REQUIRE(found.size() == 1);
  CHECK(found.front().digest == sha256(std::string(5'000, 'l')));
  CHECK(found.front().need == Artifact::Need::none);
}

TEST_CASE("an output that waits for others of its reply stays, whoever else sums up meanwhile") {
  RecordedRun told;
  told.calls({"pure", "once"});
  const EffectId first = told.open(EffectKind::tool);
  InstanceSpawned worker;
  worker.node = "worker";
  worker.input = Content("work");
  told.then(worker);
  told.then(told.finished(CallId{1}, first, std::string(5'000, 'o'), ToolEnd::succeeded));
  for (int i = 0; i < 4 && told.open(EffectKind::compact) == EffectId{}; ++i) {
    told.says(InstanceId{2}, std::string(1'000, 'w'));
  }
  told.then(ContextCompacted{
      InstanceId{2}, told.open(EffectKind::compact), Content("It works."), "", {}, {}});

  REQUIRE(artifacts_of(told).size() == 1);
  CHECK(artifacts_of(told).front().need == Artifact::Need::kept);
}

TEST_CASE("what somebody said in the same words stays") {
  Shelf shelf;
  const std::string same = shelf.stage.tool->padding + "noted 1";
  shelf.stage.start("r", same);
  shelf.stage.loop.advance(kApartMs + 300);

  CHECK(shelf.expire(0) == 1);

  CHECK(*shelf.stage.journal.blob(shelf.run, sha256(same)) == same);
}

TEST_CASE("of a damaged run nothing goes, and the others are not kept by it") {
  Shelf shelf;
  shelf.play();
  Append append;
  append.run = RunId{"bad"};
  append.epoch = 1;
  append.bytes = "this is no record";
  append.summary = RunSummary{append.run, "default", "stage", "done", "", 0, 0, 0};
  append.blobs = {StoredBlob{sha256("left"), "left"}};
  shelf.stage.journal.append(append, [](const Status& status) { CHECK(status); });
  shelf.stage.loop.run_posted();

  const auto found = shelf.housekeeping.choose_artifacts({0, Force::yes});

  REQUIRE(found);
  REQUIRE(found->size() == 2);
  for (const OldArtifacts& old : *found) {
    CHECK(old.fault.has_value() == (old.summary.id == RunId{"bad"}));
    CHECK(old.blobs.empty() == (old.summary.id == RunId{"bad"}));
  }
}

}  // namespace pawl
