// Random legal events against the reference model. PAWL_LONG_TESTS=1 makes it a million,
// PAWL_SEED=n repeats one history.
#include "pawl/kernel/reference_model_test.h"

#include "pawl/kernel/random_history_test.h"
#include "pawl/kernel/scenario_test.h"
#include "pawl/kernel/source_test.h"

namespace pawl::testing {
namespace {

struct Outcome {
  std::uint64_t events = 0;
  std::uint64_t refused = 0;
  std::map<std::string, int> ends;
  std::map<std::string, int> corners;
  std::string fault;
};

// The situations that are easily got wrong: histories that never come by them prove little.
const std::vector<std::string> kCorners = {
    "a call is run again",
    "a question is held under a pause",
    "a held question is a doubt at the end",
    "agent callbacks are held under a pause",
    "a callback stops after the model",
    "a callback stops after a tool",
    "a pause outlives the end",
    "a message outlives a cede",
    "a message outlives a replacement",
    "a message finds no room",
    "a call is yielded away",
    "a refused call is repeated",
    "evidence comes late",
    "a reply has too many blocks",
    "two instances are denied at once",
    "a raise of time wakes one while another works",
    "a summary replaces what has just been said",
    "a run goes on after its end",
    "a call in doubt outlives the end",
    "a call is judged after an end",
    "a fork goes on",
    "a fork of a tree goes on",
};

template <class D>
bool decided(const Record& record) {
  return std::any_of(record.decisions.begin(), record.decisions.end(),
                     [](const Decision& one) { return std::holds_alternative<D>(one); });
}

bool any_question_held(const RunState& state) {
  return std::any_of(state.calls.begin(), state.calls.end(), [](const Call& call) {
    return call.state == CallState(CallWaiting{HeldFor::status});
  });
}

// Of a call that the same record does not go on to stop for being repeated.
bool repeats_refused(const Record& record, const RunState& before) {
  for (const Decision& one : record.decisions) {
    const auto* refused = std::get_if<CallRefused>(&one);
    if (refused == nullptr || !counts(*refused)) continue;
    const LoopGuard& guard = find_instance(before, refused->instance)->guard;
    if (guard.identical_calls > 0 && guard.call_fingerprint == refused->fingerprint) return true;
  }
  return false;
}

bool yields_away(const Decision& one) {
  const auto* refused = std::get_if<CallRefused>(&one);
  return refused != nullptr && refused->because == RefusedBecause::yielded;
}

bool denies_two_instances(const Record& record, const RunState& before) {
  std::set<InstanceId> denied;
  for (const Decision& one : record.decisions) {
    const auto* denial = std::get_if<CallDenied>(&one);
    const Call* call = denial == nullptr ? nullptr : find_call(before, denial->call);
    if (call != nullptr) denied.insert(call->instance);
  }
  return denied.size() > 1;
}

bool wakes_beside_work(const Record& record, const RunState& before) {
  const auto* raised = std::get_if<BudgetRaised>(&record.event);
  if (raised == nullptr || raised->time_ms == 0 || before.open.empty()) return false;
  return std::any_of(before.instances.begin(), before.instances.end(), [&](const Instance& one) {
    const auto* held = std::get_if<AwaitingBudget>(&one.phase);
    return held != nullptr && held->unit == BudgetUnit::time &&
           std::any_of(record.effects.begin(), record.effects.end(), [&](const Effect& effect) {
             const auto* call = std::get_if<CallModel>(&effect);
             return call != nullptr && call->instance == one.id;
           });
  });
}

bool cuts_what_is_new(const Record& record, const RunState& before) {
  return std::any_of(record.effects.begin(), record.effects.end(), [&](const Effect& effect) {
    const auto* cut = std::get_if<CompactContext>(&effect);
    const Instance* one = cut == nullptr ? nullptr : find_instance(before, cut->instance);
    return one != nullptr && cut->to >= one->transcript.size();
  });
}

std::map<std::string, bool> corners_of(const Record& record, const RunState& before,
                                       const RunState& after) {
  const auto* reply = std::get_if<ModelReplied>(&record.event);
  const auto* result = std::get_if<ToolFinished>(&record.event);
  const auto* began = std::get_if<AgentBegan>(&record.event);
  const bool paused = std::holds_alternative<Pausing>(after.course);
  const bool goes_on = decided<MessagesDelivered>(record);
  const bool reopened = std::holds_alternative<RunReopened>(record.event);
  const auto judges = [](const Effect& one) { return std::holds_alternative<JudgeCall>(one); };
  return {
      {"a call is run again", decided<CallRetried>(record)},
      {"a question is held under a pause", any_question_held(after)},
      {"a held question is a doubt at the end",
       any_question_held(before) && decided<EndingBegan>(record)},
      {"agent callbacks are held under a pause", paused && after.begin_held == Presence::present},
      {"a callback stops after the model", reply != nullptr && reply->callback_stop},
      {"a callback stops after a tool", result != nullptr && result->callback_stop},
      {"a pause outlives the end", paused && decided<EndingWithdrawn>(record)},
      {"a message outlives a cede", reply != nullptr && reply->stop == ReplyStop::cede && goes_on},
      {"a message outlives a replacement",
       began != nullptr && began->verdict == HookVerdict::replace && goes_on},
      {"a call is yielded away",
       std::any_of(record.decisions.begin(), record.decisions.end(), yields_away)},
      {"a refused call is repeated", repeats_refused(record, before)},
      {"evidence comes late", std::holds_alternative<ResultCameLate>(record.event)},
      {"a reply has too many blocks",
       reply != nullptr && reply->blocks.size() > kBlocksPerReplyMax},
      {"two instances are denied at once", denies_two_instances(record, before)},
      {"a raise of time wakes one while another works", wakes_beside_work(record, before)},
      {"a summary replaces what has just been said", cuts_what_is_new(record, before)},
      {"a run goes on after its end", reopened && !record.effects.empty()},
      {"a call in doubt outlives the end", reopened && !calls_in_doubt(after).empty()},
      {"a call is judged after an end",
       reopened && std::any_of(record.effects.begin(), record.effects.end(), judges)}};
}

constexpr std::uint64_t kEventsOfOneRunMax = 2000;

std::string fault_after(ReferenceModel& model, const Run& run, const Record& record) {
  std::string fault = model.observe(record);
  if (fault.empty()) fault = model.compare(run.state());
  if (fault.empty()) fault = fault_of(run);
  return fault;
}

// One run and the books that are kept beside it.
struct Life {
  Run run;
  ReferenceModel model;
  Stamp now{1, 0, 0};
  std::vector<Record> records;
  std::vector<Tally> tallies;  // after each record
};

std::string where(std::uint64_t seed, const Record& record, const std::string& fault) {
  return "seed " + std::to_string(seed) + ", record " + std::to_string(record.seq) + ": " + fault +
         "\n  after " + shown(record.event) + "\n  decided " + shown(record.decisions) +
         "\n  and " + shown(record.effects);
}

void live(std::uint64_t seed, Rng& rng, Life& life, Outcome& outcome) {
  for (std::uint64_t i = 0; i < kEventsOfOneRunMax; ++i) {
    if (std::holds_alternative<Finished>(life.run->life) && !rng.one_in(3)) break;
    Event event = RandomHost(rng, life.run.state()).next();
    move_clock(rng, life.run.state(), event, life.now);
    const RunState before = life.run.state();
    const auto record = advance(life.run, event, life.now);
    if (!record) {
      ++outcome.refused;
      const bool no_room = record.error().message.ends_with("leaves no room to answer");
      if (no_room) ++outcome.corners["a message finds no room"];
      continue;
    }
    ++outcome.events;
    if (record->seq > 0) {
      for (const auto& [corner, there] : corners_of(*record, before, life.run.state())) {
        if (there) ++outcome.corners[corner];
      }
    }
    if (const std::string fault = fault_after(life.model, life.run, *record); !fault.empty()) {
      outcome.fault = where(seed, *record, fault);
      return;
    }
    life.records.push_back(*record);
    life.tallies.push_back(life.run->tally);
  }
  ++outcome.ends[std::string(name(status_of(life.run.state()))) + " " +
                 std::string(name(stop_reason_of(life.run.state())))];
}

// Repeats the prefix under the fork's id, as PrefixRewriter does (history/fork.h). What the prefix
// used is spent: the fork's tally begins with it.
void tell_again(std::uint64_t seed, const Life& origin, std::size_t length, Life& fork,
                Outcome& outcome) {
  for (std::size_t i = 0; i < length && outcome.fault.empty(); ++i) {
    const Record& original = origin.records[i];
    Event event = original.event;
    if (auto* start = std::get_if<RunStarted>(&event)) {
      start->run = RunId{"fork"};
      start->forked_from = ForkedFrom{RunId{"origin"}, length - 1, {}, {}};
    }
    fork.now = original.stamp;
    fork.now.epoch = 1;
    const auto record = advance(fork.run, event, fork.now);
    std::string fault =
        record ? fault_after(fork.model, fork.run, *record) : record.error().message;
    if (fault.empty() && fork.run->tally != origin.tallies[i]) fault = "it has not spent the same";
    if (!fault.empty()) outcome.fault = "a fork: " + where(seed, original, fault);
  }
}

void live_one_life(std::uint64_t seed, Outcome& outcome) {
  Rng rng(seed);
  Life life;
  live(seed, rng, life, outcome);
  if (!outcome.fault.empty() || life.records.empty() || !rng.one_in(4)) return;
  Life fork;
  tell_again(seed, life, 1 + rng.below(life.records.size()), fork, outcome);
  if (!outcome.fault.empty() || std::holds_alternative<Finished>(fork.run->life)) return;
  ++outcome.corners["a fork goes on"];
  if (fork.run->instances.size() > 1) ++outcome.corners["a fork of a tree goes on"];
  live(seed, rng, fork, outcome);
}

TEST_CASE("random histories look from outside as the reference model says") {
  const std::string seed = setting("PAWL_SEED", "");
  const std::uint64_t wanted = setting("PAWL_LONG_TESTS", "").empty() ? 200'000 : 1'000'000;
  Outcome outcome;

  if (!seed.empty()) {
    live_one_life(std::stoull(seed), outcome);
  } else {
    for (std::uint64_t i = 1; outcome.events < wanted && outcome.fault.empty(); ++i) {
      live_one_life(i, outcome);
    }
  }

  REQUIRE_MESSAGE(outcome.fault.empty(), outcome.fault << "\n  repeat with PAWL_SEED");
  std::string ends;
  for (const auto& [end, count] : outcome.ends) ends += end + ": " + std::to_string(count) + "; ";
  MESSAGE(outcome.events << " events taken, " << outcome.refused << " refused; " << ends);
  std::string corners;
  for (const auto& [corner, count] : outcome.corners) {
    corners += corner + ": " + std::to_string(count) + "; ";
  }
  MESSAGE(corners);
  if (!seed.empty()) return;
  CHECK(outcome.ends.size() >= 20);
  for (const std::string& corner : kCorners) CHECK_MESSAGE(outcome.corners[corner] > 0, corner);
}

// A run that nobody disturbs and everybody answers ends by itself.
TEST_CASE("every run whose effects report and whose waits are answered ends within its bounds") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    Run run;
    Stamp now{1, 0, 0};
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < 200'000 && !std::holds_alternative<Finished>(run->life); ++i) {
      Event event = RandomHost(rng, run.state()).next();
      move_clock(rng, run.state(), event, now);
      if (advance(run, event, now)) ++taken;
    }
    CHECK_MESSAGE(std::holds_alternative<Finished>(run->life), "seed " << seed);
    CHECK_MESSAGE(taken < 20'000, "seed " << seed);
  }
}

}  // namespace
}  // namespace pawl::testing
