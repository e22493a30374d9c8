#include "pawl/history/run_diff.h"

#include <doctest/doctest.h>

#include "pawl/testing/stage/recorded_run_test.h"

namespace pawl {
namespace {

Script two_notes(const std::string& last = "All noted.") {
  return scripted({ScriptReply::call("note", R"({"n": 1})"),
                   ScriptReply::call("note", R"({"n": 2})"), ScriptReply::say(last)});
}

// Runs "a" and "b"; the tool starts to count anew for each.
struct Pair {
  explicit Pair(const Script& script) : stage(script) { first(); }
  void first() {
    stage.start("a");
    stage.tool->keys.clear();
  }
  RunDiff diff(DiffScope scope = DiffScope::substance) {
    auto found = diff_runs(stage.journal, RunId{"a"}, RunId{"b"}, scope);
    REQUIRE(found);
    return *std::move(found);
  }
  RunStage stage;
};

RunDiff diff_of(const RecordedRun& a, const RecordedRun& b) {
  TestLoop loop;
  MemoryJournal journal(loop);
  a.write(journal, loop);
  b.write(journal, loop);
  auto found = diff_runs(journal, a.run->id, b.run->id, DiffScope::substance);
  REQUIRE(found);
  return *std::move(found);
}

}  // namespace

TEST_CASE("two runs of the same charter on the same input do not differ in substance") {
  Pair pair(two_notes());
  pair.stage.loop.advance(5000);
  pair.stage.start("b");

  const RunDiff diff = pair.diff();

  CHECK(diff.same());
  CHECK(diff.outputs == RunDiff::Outputs::same);
  CHECK(diff.a.status == RunStatus::done);
  CHECK(diff.a.tally.steps == 3);
  CHECK(diff.a.reason == "end_turn");
}

TEST_CASE("in full they differ in ids and times, record by record") {
  Pair pair(two_notes());
  pair.stage.loop.advance(5000);
  pair.stage.start("b");

  const RunDiff diff = pair.diff(DiffScope::all);

  REQUIRE(diff.differences.size() > 2);
  CHECK(diff.differences[0].path == "$.at_ms");
  CHECK(diff.differences[1].path == "$.run");
  CHECK(diff.differences[1].seq_a == 0);
}

TEST_CASE("one changed byte of an input is located by step, path and byte") {
  Pair pair(two_notes());
  pair.stage.start("b", "gO");

  const RunDiff diff = pair.diff();

  REQUIRE(diff.differences.size() == 1);
  const RunDifference& found = diff.differences[0];
  CHECK(found.step == 0);
  CHECK(found.event == "run_started");
  CHECK(found.path == "$.input");
  CHECK(found.byte == 1);
  CHECK(found.a == "\"go\"");
  CHECK(found.b == "\"gO\"");
}

TEST_CASE("a difference in an argument has the path inside the argument") {
  Pair pair(two_notes());
  Script other = two_notes("All denied");
  other.replies[1] = ScriptReply::call("note", R"({"n": 3})");
  pair.stage.script = other;
  pair.stage.start("b");

  const RunDiff diff = pair.diff();

  REQUIRE(diff.differences.size() == 2);
  CHECK(diff.differences[0].step == 2);
  CHECK(diff.differences[0].path == "$.blocks[0].input.n");
  CHECK(diff.differences[0].a == "2");
  CHECK(diff.differences[1].step == 3);
  CHECK(diff.differences[1].path == "$.blocks[0].text");
  CHECK(diff.outputs == RunDiff::Outputs::differ);
}

TEST_CASE("bytes that mean the same as JSON are still found to differ") {
  Pair pair(two_notes());
  pair.stage.script.replies[1] = ScriptReply::call("note", R"({"n":2})");
  pair.stage.start("b");

  const RunDiff diff = pair.diff();

  REQUIRE(diff.differences.size() == 1);
  CHECK(diff.differences[0].path == "$.blocks[0].input");
}

TEST_CASE("long contents are compared by what they hold") {
  RunStage stage(two_notes());
  stage.tool->padding = std::string(9000, 'x');
  stage.start("a");
  stage.tool->keys.clear();
  stage.tool->padding[7000] = 'y';
  stage.start("b");

  const auto diff = diff_runs(stage.journal, RunId{"a"}, RunId{"b"}, DiffScope::substance);

  REQUIRE(diff);
  REQUIRE(diff->differences.size() == 2);
  CHECK(diff->differences[0].call == "c1");
  CHECK(diff->differences[0].step == 1);
  CHECK(diff->differences[0].path == "$.content");
  CHECK(diff->differences[0].byte == 7000);
  CHECK(diff->differences[0].a.size() < 2 * kExcerptBytesMax);
  CHECK(diff->differences[0].b.find('y') != std::string::npos);
}

TEST_CASE("a run that has come less far is a prefix of the other") {
  Pair pair(two_notes());
  pair.stage.tool->answers = false;
  pair.stage.start("b");

  const RunDiff diff = pair.diff();

  CHECK(diff.differences.empty());
  CHECK_FALSE(diff.same());
  CHECK(diff.prefix == PrefixOf::b_of_a);
  CHECK(diff.b.status == RunStatus::running);
}

TEST_CASE("no more than a bounded number of differences is listed") {
  std::vector<ScriptReply> many;
  std::vector<ScriptReply> others;
  for (int i = 0; i < 30; ++i) {
    many.push_back(ScriptReply::call("note", R"({"n":)" + std::to_string(i) + "}"));
    others.push_back(ScriptReply::call("note", R"({"n":)" + std::to_string(i + 100) + "}"));
  }
  Pair pair(scripted(many));
  pair.stage.script = scripted(others);
  pair.stage.start("b");

  const RunDiff diff = pair.diff();

  CHECK(diff.differences.size() == kDifferencesMax);
  CHECK(diff.rest == RunDiff::Rest::not_compared);
  CHECK(diff_runs(pair.stage.journal, RunId{"a"}, RunId{"x"}, DiffScope::all).error().code ==
        ErrorCode::not_found);
}

TEST_CASE("what was interrupted and asked again is no difference, nor is a provider's session") {
  RecordedRun plain("a");
  plain.says(kRootInstance, "Hello.", ReplyStop::end_turn);
  RecordedRun paused("b");
  paused.then(PauseRequested{"ann"});
  ModelAborted aborted;
  aborted.effect = paused.open(EffectKind::model);
  paused.then(aborted);
  paused.then(ResumeRequested{"ann"});
  ModelReplied reply;
  reply.effect = paused.open(EffectKind::model);
  reply.blocks = {testing::says("Hello.")};
  reply.session = "s-2";
  paused.then(reply);

  CHECK(diff_of(plain, paused).same());
}

TEST_CASE("what a run was told of a call in doubt is a difference of its own") {
  RecordedRun asked("a");
  asked.calls({"once"});
  asked.then(asked.finished(CallId{1}, asked.open(EffectKind::tool), "slow", ToolEnd::timed_out));
  RecordedRun told("b");
  told.calls({"once"});
  told.then(told.finished(CallId{1}, told.open(EffectKind::tool), "slow", ToolEnd::timed_out));
  for (Decision& decision : told.records.back().decisions) {
    if (std::holds_alternative<CallInDoubt>(decision)) decision = CallUnknown{CallId{1}};
  }

  const RunDiff diff = diff_of(asked, told);

  REQUIRE(diff.differences.size() == 3);  // with the text that it was told, and its tokens
  CHECK(diff.differences[0].path == "$.decisions[0].type");
  CHECK(diff.differences[0].b == "\"call_unknown\"");
}

TEST_CASE("differences come in the order of the runs, also where one has come less far") {
  Pair pair(two_notes());
  pair.stage.tool->answers = false;
  pair.stage.start("b", "gO");

  const RunDiff diff = pair.diff();

  REQUIRE(diff.differences.size() > 1);
  CHECK(diff.differences[0].path == "$.input");
  CHECK(diff.prefix == PrefixOf::neither);
}

TEST_CASE("of two runs that go apart neither is the beginning of the other") {
  RecordedRun spoke("a");
  spoke.says(kRootInstance, "Hello.", ReplyStop::end_turn);
  RecordedRun heard("b");
  heard.then(MessageReceived{kRootInstance, Content("Are you there?"), "ann"});

  const RunDiff diff = diff_of(spoke, heard);

  CHECK(diff.prefix == PrefixOf::neither);
  CHECK(diff.differences.size() == 2);
}

}  // namespace pawl
