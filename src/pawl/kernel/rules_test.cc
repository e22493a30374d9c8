// A run is decided by the rules of its own number; what was recorded is applied without any.
#include "pawl/kernel/rules.h"

#include <fstream>
#include <iterator>

#include "pawl/base/utf8.h"
#include "pawl/kernel/random_history_test.h"
#include "pawl/kernel/scenario_test.h"
#include "pawl/kernel/source_test.h"

namespace pawl::testing {
namespace {

constexpr std::uint32_t kOther = 900;

std::uint64_t other_estimate(std::uint64_t bytes) {
  return bytes + 1'000;
}
bool never(std::uint64_t, std::uint64_t) {
  return false;
}
bool always(const Content&) {
  return true;
}
NextMove fail_at_once(const RetryPolicy&, const ModelFailure&) {
  return {};
}

// Differs from the rules of this program in every number, estimator and sentence.
Rules all_different() {
  Rules rules;
  rules.semantics = kOther;
  rules.estimate_tokens = other_estimate;
  rules.is_believable = never;
  rules.refers_back = always;
  rules.input_estimate_factor = 7;
  rules.reserved_output_tokens = 9;
  rules.output_tokens_min = 1;
  rules.summary_tokens = 11;
  rules.worth_while_divisor = 100;
  rules.removed_min = 1;
  rules.attempts_with_skips_max = 2;
  rules.tenant_wait_min_ms = 1;
  rules.tenant_wait_max_ms = 2;
  rules.output_repairs_max = 5;
  rules.tool_attempts_max = 1;
  rules.reconciled_attempts_max = 1;
  rules.next_move = fail_at_once;
  rules.ending_grace_ms = 1;
  rules.open_approvals_max = 1;
  rules.questions_per_hour_max = 2;
  rules.denials_of_same_max = 1;
  rules.say = {.wrap_up = "w",
               .repair = "r",
               .outcome_unknown = "o",
               .trimmed = "t",
               .unknown_tool = "u",
               .no_tools = "n",
               .invalid_input = "i",
               .cut_off = "c",
               .yielded = "y",
               .ended = "e",
               .denied = "d",
               .many_open = "m",
               .many_asked = "a",
               .many_denied = "b",
               .unanswered = "x",
               .denied_by = "f",
               .no_reason = "g",
               .moves_to = "n0",
               .updated = "n1",
               .spawned = "n2",
               .cedes = "n3",
               .not_done = "n4",
               .leaves_already = "n5",
               .left_already = "n6",
               .root_cedes = "n7",
               .no_room = "n8",
               .too_deep = "n9",
               .second_child = "n10",
               .proposed = "n11",
               .conflict = "n12",
               .content_ceded = "n13",
               .content_failed = "n14",
               .content_stopped = "n15",
               .agent_too_deep = "n19",
               .agent_too_many = "n20",
               .agent_calls_itself = "n21",
               .last_of = "n16",
               .work_is_open = "n19",
               .entered = "n17",
               .begin = "n18",
               .steps_left = {"0", "1", "2"},
               .summary_wanted = "s"};
  return rules;
}

// The rules of this program with another number and one other sentence.
Rules reworded() {
  Rules rules = rules_of(kSemantics);
  rules.semantics = kOther;
  rules.say.wrap_up = "Stop now.";
  return rules;
}

RunStarted under(std::uint32_t semantics) {
  RunStarted start = a_start();
  start.semantics = semantics;
  return start;
}

std::vector<Record> random_records(std::uint64_t seed) {
  std::vector<Record> records;
  Rng rng(seed);
  Run run;
  Stamp now{1, 0, 0};
  for (int i = 0; i < 400; ++i) {
    if (std::holds_alternative<Finished>(run->life) && rng.one_in(2)) break;
    Event event = RandomHost(rng, run.state()).next();
    move_clock(rng, run.state(), event, now);
    if (auto record = advance(run, event, now)) records.push_back(*std::move(record));
  }
  return records;
}

Run folded(const std::vector<Record>& records) {
  Run run;
  for (const Record& record : records) REQUIRE(fold(run, record));
  return run;
}

// The whole state, but for the number itself.
RunState without_number(const Run& run) {
  RunState state = run.state();
  state.semantics = 0;
  return state;
}

TEST_CASE("other sentences, estimators and numbers do not change what a journal folds to") {
  const Rules rules = all_different();
  const PlantedRules planted(rules);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::vector<Record> records = random_records(seed);
    std::vector<Record> others = records;
    if (!others.empty()) std::get<RunStarted>(others.front().event).semantics = kOther;
    const Run run = folded(records);
    const Run other = folded(others);
    REQUIRE_MESSAGE(without_number(run) == without_number(other), "seed " << seed);
    REQUIRE(run.reserved() == other.reserved());
  }
}

// The other way round: histories of the other rules, folded under the number of this program.
TEST_CASE("histories of other rules fold to the same under the rules of this program") {
  const Rules rules = all_different();
  const PlantedRules planted(rules);
  TestRun run(under(kOther));
  run.replies({says("half")}, ReplyStop::max_tokens);
  run.replies({says("see above"), calls("tell"), calls("nope")});
  run.crashes();
  std::vector<Record> records = run.records();
  std::get<RunStarted>(records.front().event).semantics = kSemantics;
  CHECK(without_number(folded(records)) == without_number(run.run()));
  CHECK(run.dialogue().find("user: w") != std::string::npos);
}

TEST_CASE("an old run goes on under its old rule, a new one has the new rule") {
  const std::string old_words(rules_of(kSemantics).say.wrap_up);
  TestRun old_run(under(kSemantics));
  const std::vector<Record> before = old_run.records();

  const Rules rules = reworded();
  const PlantedRules planted(rules);
  old_run.replies({says("half")}, ReplyStop::max_tokens);
  TestRun new_run(under(kOther));
  new_run.replies({says("half")}, ReplyStop::max_tokens);

  CHECK(old_run.dialogue() == "user: hello | assistant: half | user: " + old_words);
  CHECK(new_run.dialogue() == "user: hello | assistant: half | user: Stop now.");
  // Both are decided again as they were.
  for (const TestRun* one : {&old_run, &new_run}) {
    Run again;
    for (const Record& record : one->records()) {
      const auto made = advance(again, record.event, record.stamp);
      REQUIRE(made);
      CHECK(*made == record);
    }
  }
  CHECK(before == std::vector<Record>(
                      old_run.records().begin(),
                      old_run.records().begin() + static_cast<std::ptrdiff_t>(before.size())));
}

TEST_CASE("what applies a record names no rules") {
  for (const char* file : {"apply.h", "apply_events.cc", "apply_decisions.cc", "tally.cc"}) {
    std::ifstream in(source_directory() + "/src/pawl/kernel/" + file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    REQUIRE(text.size() > 1'000);
    for (const char* word : {"rules_of", "find_rules", "Rules&", "estimate_tokens", "worst_"}) {
      CHECK_MESSAGE(text.find(word) == std::string::npos, file << " has " << word);
    }
  }
}

TEST_CASE("a warning about the last steps is that of the run's rules") {
  Rules rules = rules_of(kSemantics);
  rules.say.steps_left = {"last", "one more", "two more"};
  CHECK(step_warning(rules, 0) == "last");
  CHECK(step_warning(rules, 3).empty());
}

TEST_CASE("a number that this program does not know is refused wherever it comes") {
  const std::string message =
      "semantics 900 is not known to this version of Pawl, which knows 1 to 1";
  std::vector<Record> records;
  Run left_over;
  {
    const Rules rules = reworded();
    const PlantedRules planted(rules);
    const TestRun run(under(kOther));
    records = run.records();
    left_over = run.run();
  }
  Run run;
  const auto started = advance(run, under(kOther), {1, 0, 0});
  REQUIRE_FALSE(started);
  CHECK(started.error().message == message);
  const Status loaded = fold(run, records.front());
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == ErrorCode::invalid_argument);
  CHECK(loaded.error().message == message);
  const Status next = check(left_over, CancelRequested{"u", ""}, {1, 0, 0});
  REQUIRE_FALSE(next);
  CHECK(next.error().message == message);
}

TEST_CASE("words of Pawl's own are bounded, in whole characters") {
  CHECK(in_few_words("short") == "short");
  const std::string most(kWordsBytesMax, 'x');
  CHECK(in_few_words(most) == most);
  std::string umlauts;
  for (int i = 0; i < 1'000; ++i) umlauts += "\xC3\xBC";
  const std::string few = in_few_words(umlauts);
  CHECK(few.size() <= kWordsBytesMax);
  CHECK(few.ends_with("\xC3\xBC […]"));
  CHECK(is_valid_utf8(few));
  TestRun run;
  ModelReplied answer = run.reply({says("[]")});
  answer.output_fault = umlauts;
  run.takes(answer);
  const auto& note = run.instance().transcript.back();
  CHECK(note.kind == EntryKind::note);
  CHECK(message_of(note, run.last())->text.length() <= kWordsBytesMax);
  CHECK(with_number("a {} b", 7) == "a 7 b");
}

}  // namespace
}  // namespace pawl::testing
