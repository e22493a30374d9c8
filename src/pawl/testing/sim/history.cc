#include "pawl/testing/sim/history.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "pawl/kernel/codec.h"
#include "pawl/port/journal_checks.h"
#include "pawl/testing/sim/residents.h"
#include "pawl/testing/sim/world/charters.h"
#include "pawl/testing/sim/world/people.h"

namespace pawl::sim {
namespace {

constexpr std::int64_t kTroubleMs = 60'000;       // faults strike until then
constexpr std::int64_t kPatienceMs = 40'000'000;  // of virtual time, for all runs to end
constexpr std::int64_t kWallJumpMs = 86'400'000;
constexpr std::uint64_t kWorkAtOnceMax = 100'000;  // pieces of work in one millisecond
constexpr std::uint64_t kForksMax = 3;             // of one history
constexpr std::uint64_t kReopenedMax = 3;          // of one history
constexpr std::int64_t kUnreadMsMax = 15'000;      // longer than any commit takes

class History {
 public:
  explicit History(const HistoryOptions& options)
      : options_(options),
        rng_(Rng::mixed(options.seed)),
        faults_(Rng::mixed(options.seed + 0x51AB), options.only_faults),
        world_loop_(clock_),
        oracle_(clock_, policy_),
        storage_(
            clock_, Rng::mixed(options.seed + 0xD15C), options.bug,
            [this](const Append& append) { on_durable(append); },
            [this](const Append& append, const Error& error) { on_refused(append, error); }),
        world_{clock_,  world_loop_, faults_,       rng_, oracle_,
               policy_, options.bug, options.steps, {},   0},
        people_(world_, [this](const RunId& id, const Event& event) { post(id, event); }),
        residents_(world_, storage_, options.processes,
                   [this](const std::string& text) { say(text); }) {
    oracle_.watch(storage_);
    storage_.watch_handed_over([this](const Append& append) { oracle_.on_handed_over(append); });
    if (options.bug == PlantedBug::timer_of_32_bits) clock_.overflow_at_32_bits();
  }

  ~History() {
    residents_.clear();
    world_loop_.clear();  // effects under way know the world
  }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  HistoryReport play() {
    tick();
    std::uint64_t work = 0;
    std::int64_t at_ms = 0;
    while (!oracle_.violation() && !is_over()) {
      if (!clock_.step()) oracle_.fail("nothing is left to happen, and runs have not ended");
      if (at_ms != clock_.passed_ms()) work = 0;
      at_ms = clock_.passed_ms();
      if (++work > kWorkAtOnceMax) oracle_.fail("there is no end of work, and time stands still");
      if (clock_.passed_ms() > kPatienceMs) oracle_.fail(who_does_not_end());
    }
    if (!oracle_.violation()) oracle_.on_end();
    return report();
  }

 private:
  struct Unread {
    std::uint64_t row = 0;
    std::string driver;
    std::int64_t since_ms = 0;
  };

  void say(const std::string& text) {
    if (options_.trace == HistoryOptions::Trace::off) return;
    trace_.push_back(std::to_string(clock_.passed_ms()) + " ms: " + text);
  }

  void on_durable(const Append& append) {
    if (options_.trace == HistoryOptions::Trace::on) {
      const auto record = decode_record(append.bytes);
      say(append.run.text + " #" + std::to_string(append.seq) + " epoch " +
          std::to_string(append.epoch) + " " + (record ? std::string(name(record->event)) : "?"));
    }
    oracle_.on_durable(append);
  }

  // Who holds a run is never refused, except when it was quarantined under him, or when it would
  // end over a row in its inbox. A driver that has left an ending run for want of space holds it no
  // more: what it had handed over is refused when somebody else has taken the run up.
  void on_refused(const Append& append, const Error& error) {
    const bool taken_up = append.epoch < storage_.epoch_of(append.run);
    if (taken_up && oracle_.has_left_unwritten(append.run, append.epoch)) {
      return say(append.run.text + " was taken up by another driver");
    }
    if (waits_in_inbox(error)) return say(append.run.text + " cannot end: its inbox has a row");
    if (oracle_.tracks()[append.run.text].standing != Track::Standing::sound) return;
    oracle_.fail("record " + std::to_string(append.seq) + " of run " + append.run.text +
                 " was refused to its driver: " + error.message);
  }

  // --- The operator: once in a while somebody looks after the runs and the processes ------------

  void tick() {
    if (clock_.passed_ms() > kTroubleMs && !faults_.is_calm()) {
      faults_.calm();
      // Somebody sets the clock. What waits for an hour of the wall's waits for as long as the wall
      // has gone back meanwhile: days, perhaps.
      clock_.jump_wall(30 * kWallJumpMs);
      say("calm");
    }
    residents_.look_after();
    if (!oracle_.violation()) start_runs();
    look_after_runs();
    if (!oracle_.violation()) make_trouble();
    const bool hurried = started_ < options_.runs || !faults_.is_calm();
    world_loop_.at(hurried ? rng_.between(5, 120) : rng_.between(100, 2'000), [this] { tick(); });
  }

  // Runs that were started, and behind them the forks.
  std::uint64_t known() const { return started_ + forks_; }
  RunId run_id(std::uint64_t number) const {
    const bool started = number <= started_;
    return RunId{(started ? "r" : "f") + std::to_string(started ? number : number - started_)};
  }

  void start_runs() {
    if (started_ >= options_.runs || !rng_.one_in(2)) return;
    SimProcess* process = residents_.any();
    if (process == nullptr) return;
    Limits limits;
    limits.steps = options_.steps;
    if (rng_.one_in(6)) limits.tool_calls = 1 + rng_.below(10);
    if (rng_.one_in(6)) limits.model_calls = 1 + rng_.below(10);
    if (rng_.one_in(8)) limits.tokens = 100 + rng_.below(2'000);
    if (rng_.one_in(5)) limits.cost_pico = 4'500 + rng_.below(12'000);
    if (rng_.one_in(10)) limits.ask_cost_pico = 1 + rng_.below(4'000);
    const Approvers approvers = rng_.one_in(4) ? Approvers::others : Approvers::anyone;
    const std::string charter = pick_charter(rng_);
    if (kind_of(charter) == CharterKind::tree) {
      limits.steps = options_.steps + rng_.below(2 * options_.steps);
      limits.branches = 1 + rng_.below(5);
    }
    process->start(RunId{"r" + std::to_string(++started_)}, charter, limits, approvers);
  }

  void look_after_runs() {
    const auto listed = storage_.list({"", "", "", SIZE_MAX});
    for (auto summary = listed->rbegin(); summary != listed->rend(); ++summary) {
      if (std::holds_alternative<Finished>(oracle_.tracks()[summary->id.text].run->life) &&
          !rng_.one_in(10)) {
        continue;  // Little happens there any more.
      }
      look_after(*summary);
    }
  }

  void look_after(const RunSummary& summary) {
    SimProcess* process = residents_.any();
    if (process == nullptr || oracle_.violation()) return;
    const RunId& id = summary.id;
    Track& track = oracle_.tracks()[id.text];
    check_summary(summary, track);
    check_inbox(id, track);
    if (ended(summary.status)) {
      cancel_late(*process, id);
      return reopen(*process, id);
    }
    // A waiting run is taken up when somebody has something for it, or for no reason.
    const bool idle = summary.status == "waiting" && storage_.index().pending(id)->empty();
    if ((residents_.driver_of(id) == nullptr || storage_.has_lapsed(id)) &&
        rng_.one_in(idle ? 60 : 3)) {
      const Status resumed = process->resume(id);
      if (!resumed) judge_refusal(id, track, resumed.error());
    }
    if (storage_.deadly_loads(id) > kFailedLoadsMax) {
      oracle_.fail("loading run " + id.text + " killed " +
                   std::to_string(storage_.deadly_loads(id)) + " processes, and it goes on");
    }
    if (!oracle_.violation()) help(id, track, *process);
  }

  static bool ended(const std::string& status) {
    return status != "running" && status != "waiting" && status != "queued";
  }

  void check_summary(const RunSummary& summary, const Track& track) {
    if (summary.status == "quarantined") {
      const bool begun = summary.id.text.starts_with('f') && track.chains.size() <= summary.length;
      if (begun && (track.chains.empty() || !track.is_whole())) return;  // a fork in the making
      if (track.standing == Track::Standing::sound) {
        oracle_.fail("run " + summary.id.text +
                     " is quarantined, and was never damaged: " + summary.reason);
      }
      return;
    }
    if (track.chains.size() != summary.length) return;  // the books come a moment later
    const std::string status(name(status_of(track.run.state())));
    if (summary.status != status) {
      oracle_.fail("the list says that run " + summary.id.text + " is " + summary.status +
                   ", its journal that it is " + status);
    }
  }

  // A message to a run that is driven is taken before long, unless its driver is stopped.
  void check_inbox(const RunId& id, const Track& track) {
    Unread& unread = unread_[id.text];
    SimProcess* const driver = residents_.driver_of(id);
    const bool awake = driver != nullptr && !driver->loop().stopped();
    const bool ending = std::holds_alternative<Ending>(track.run->course);
    const auto rows = storage_.index().pending(id);
    if (!awake || ending || rows->empty()) return unread_.erase(id.text), void();
    const InboxRow& oldest = rows->front();
    const auto event = decode_event(oldest.body);
    const auto* message = event ? std::get_if<MessageReceived>(&*event) : nullptr;
    if (message == nullptr || !has_reader(track.run.state(), *message)) return;
    if (unread.row != oldest.row || unread.driver != driver->name()) {
      unread = {oldest.row, driver->name(), clock_.monotonic_ms()};
    }
    if (clock_.monotonic_ms() - unread.since_ms > kUnreadMsMax) {
      oracle_.fail("run " + id.text + " is driven, and nobody looks into its inbox");
    }
  }

  void judge_refusal(const RunId& id, const Track& track, const Error& error) {
    say("resuming " + id.text + ": " + error.message);
    const bool excused = error.code == ErrorCode::unavailable || error.code == ErrorCode::conflict;
    if (!excused && track.standing == Track::Standing::sound) {
      oracle_.fail("run " + id.text + " cannot be resumed: " + error.message);
    }
  }

  void post(const RunId& id, const Event& event, const std::string& message = {}) {
    SimProcess* process = residents_.any();
    if (process == nullptr) return;
    const auto* decided = std::get_if<CallDecided>(&event);
    if (decided != nullptr) oracle_.on_person_decided(id, *decided);
    say("somebody posts " + std::string(name(event)) + " to " + id.text);
    process->store().post(id, clock_.wall_ms(), encode_event(event),
                          [this, id, message](const Status& posted) {
                            if (posted && !message.empty()) {
                              oracle_.on_message_accepted(id, message);
                            }
                          });
  }

  void help(const RunId& id, const Track& track, SimProcess& process) {
    const RunState& state = track.run.state();
    people_.decide(id, state, process.store());
    if (status_of(state) == RunStatus::waiting && rng_.one_in(3)) people_.help(id, state);
  }

  // Somebody who does not know that the run is over.
  void cancel_late(SimProcess& process, const RunId& id) {
    if (!faults_.is_calm() && rng_.one_in(40)) {
      process.store().post(id, clock_.wall_ms(), encode_event(CancelRequested{"operator", ""}),
                           [](const Status&) {});
    }
  }

  // Somebody goes on with a run that is over, with more room, other guards or a message.
  void reopen(SimProcess& process, const RunId& id) {
    const Track& track = oracle_.tracks()[id.text];
    // A fork whose making was cut short before its first record is listed, and is no run.
    const bool sound =
        track.standing == Track::Standing::sound && track.is_whole() && !track.chains.empty();
    if (faults_.is_calm() || !sound || reopened_ == kReopenedMax || !rng_.one_in(4)) return;
    RunReopened event;
    event.by = "operator";
    if (rng_.one_in(2)) {
      event.limits = track.run->limits;
      event.limits->steps += rng_.below(5);
      event.limits->model_calls += rng_.below(5);
      event.limits->tool_calls += rng_.below(5);
      event.limits->tokens += rng_.below(1'000);
    }
    if (rng_.one_in(4)) event.guards = Guards{};
    const Instance* root = find_instance(track.run.state(), kRootInstance);
    const bool rests = root != nullptr && std::holds_alternative<Resting>(root->phase);
    if (rests || rng_.one_in(2)) {  // a run at rest goes on with a message only
      event.message = Content("go on " + std::to_string(++messages_));
    }
    const Status reopened = process.reopen(id, std::move(event));
    say("reopening " + id.text + ": " + (reopened ? "done" : reopened.error().message));
    if (reopened) ++reopened_;
    if (!reopened) judge_refusal(id, track, reopened.error());
  }

  // --- Trouble ----------------------------------------------------------------------------------

  void make_trouble() {
    if (started_ == 0) return;
    const RunId id = run_id(1 + rng_.below(known()));
    if (!faults_.is_calm() && rng_.one_in(8)) interfere(id);
    if (!faults_.is_calm() && rng_.one_in(60)) fork(id);
    if (faults_.strikes(FaultKind::process_crash, 250)) residents_.crash_one();
    if (faults_.strikes(FaultKind::process_stop, 100)) residents_.stop_one();
    if (faults_.strikes(FaultKind::power_loss, 80)) residents_.lose_power();
    if (faults_.strikes(FaultKind::wall_jump, 100)) {
      clock_.jump_wall(rng_.between(-kWallJumpMs, kWallJumpMs));
    }
    if (faults_.strikes(FaultKind::policy_change, 150)) {
      policy_.change(rng_);
      say("the house's policy is version " + std::to_string(policy_.version()) + " now");
    }
    if (faults_.strikes(FaultKind::full_disk, 60)) {
      say("the disk is full for a while");
      storage_.full_until_ms = clock_.monotonic_ms() + rng_.between(10, 2'000);
    }
    if (faults_.strikes(FaultKind::damage, 15)) damage(id);
    if (faults_.strikes(FaultKind::poison, 15)) poison(id);
  }

  void interfere(const RunId& id) {
    const Track& track = oracle_.tracks()[id.text];
    if (track.chains.empty()) return;
    if (!track.run->nodes.empty() && !rng_.one_in(4)) return meddle(id, track.run.state());
    switch (rng_.below(8)) {
      case 0:
        return post(id, PauseRequested{"operator"});
      case 1:
        return post(id, ResumeRequested{"operator"});
      case 2:
        return rng_.one_in(4) ? post(id, CancelRequested{"operator", "enough"}) : void();
      default: {
        const std::string text = "message " + std::to_string(++messages_);
        return post(id, MessageReceived{kRootInstance, Content(text), "operator"}, text);
      }
    }
  }

  // A command is decided at once where nobody drives the run; else its driver finds it.
  void meddle(const RunId& id, const RunState& state) {
    const Event event = people_.whim(state);
    SimProcess* const process = residents_.any();
    const auto* command = std::get_if<CommandGiven>(&event);
    const bool idle = command != nullptr && process != nullptr && rng_.one_in(2) &&
                      residents_.driver_of(id) == nullptr;
    if (!idle) return post(id, event);
    const Status decided = process->decide(id, *command, [](const Status&) {});
    say("a command is given to " + id.text + ": " + (decided ? "" : decided.error().message));
  }

  // Somebody tries another way from a step of a run, whatever that is doing now.
  void fork(const RunId& id) {
    const Track& track = oracle_.tracks()[id.text];
    SimProcess* process = residents_.any();
    const bool sound = track.standing == Track::Standing::sound && track.is_whole();
    if (process == nullptr || track.chains.empty() || !sound || forks_ == kForksMax) return;
    const std::uint64_t step = rng_.below(track.steps + 1);
    const RunId fork{"f" + std::to_string(++forks_)};
    say(id.text + " is forked at step " + std::to_string(step) + " as " + fork.text);
    process->fork(id, step, fork);
  }

  void damage(const RunId& id) {
    Track& track = oracle_.tracks()[id.text];
    if (residents_.driver_of(id) != nullptr || track.chains.empty() || !track.is_whole() ||
        !std::holds_alternative<Live>(track.run->life)) {
      return;
    }
    const std::uint64_t seq = rng_.below(track.chains.size());
    say("record " + std::to_string(seq) + " of " + id.text + " is damaged");
    storage_.damage(id, seq);
    track.standing = Track::Standing::damaged;
  }

  void poison(const RunId& id) {
    Track& track = oracle_.tracks()[id.text];
    if (residents_.driver_of(id) != nullptr || track.chains.empty() || !track.is_whole() ||
        !std::holds_alternative<Live>(track.run->life)) {
      return;
    }
    say("loading " + id.text + " kills from now on");
    storage_.poison(id);
    track.standing = Track::Standing::poisoned;
  }

  // --- The end ----------------------------------------------------------------------------------

  bool is_over() {
    if (started_ < options_.runs || looked_at_ms_ == clock_.monotonic_ms()) return false;
    looked_at_ms_ = clock_.monotonic_ms();
    for (std::uint64_t number = 1; number <= known(); ++number) {
      if (!has_ended(run_id(number))) return false;
    }
    return true;
  }

  bool has_ended(const RunId& id) {
    const auto found = oracle_.tracks().find(id.text);
    const bool let_go = residents_.driver_of(id) == nullptr;
    // A run whose start was lost before anybody was told: it never was.
    if (found == oracle_.tracks().end() || found->second.chains.empty()) return let_go;
    if (std::holds_alternative<Finished>(found->second.run->life)) return let_go;
    const bool sound = found->second.standing == Track::Standing::sound;
    if (sound && found->second.is_whole()) return false;
    // Its snapshot is whole, and the question that it waits for is in the damaged record: whoever
    // would answer it is told of the damage instead.
    if (!sound && people_.cannot_read(id)) return let_go;
    const auto listed = storage_.list({id.text, "", "quarantined", 1000});
    return std::any_of(listed->begin(), listed->end(),
                       [&](const RunSummary& one) { return one.id == id; });
  }

  std::string who_does_not_end() {
    for (std::uint64_t number = 1; number <= known(); ++number) {
      const RunId id = run_id(number);
      if (has_ended(id)) continue;
      const Track& track = oracle_.tracks()[id.text];
      return "run " + id.text + " does not end; it is " +
             std::string(name(status_of(track.run.state()))) + ", for " +
             std::string(name(waits_for(track.run.state())));
    }
    return "runs do not end";
  }

  HistoryReport report() {
    HistoryReport report;
    report.violation = oracle_.violation();
    if (report.violation) say("VIOLATION: " + *report.violation);
    report.events = oracle_.records();
    report.steps = oracle_.steps();
    report.effects = oracle_.effects_total();
    report.forks = oracle_.forks();
    report.crashes = residents_.crashes();
    report.hash = oracle_.trace_hash();
    report.met = oracle_.met();
    report.struck = faults_.struck();
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
      report.faults[kind] = faults_.count(static_cast<FaultKind>(kind));
    }
    report.trace = std::move(trace_);
    return report;
  }

  HistoryOptions options_;
  Rng rng_;
  Faults faults_;
  SimClock clock_;
  SimLoop world_loop_;
  SimPolicy policy_;
  Oracle oracle_;
  SimStorage storage_;
  World world_;
  People people_;
  Residents residents_;
  std::map<std::string, Unread> unread_;  // by run
  std::uint64_t started_ = 0;
  std::uint64_t forks_ = 0;  // that somebody asked for
  std::uint64_t reopened_ = 0;
  std::uint64_t messages_ = 0;
  std::int64_t looked_at_ms_ = -1;
  std::vector<std::string> trace_;
};

}  // namespace

HistoryReport run_history(const HistoryOptions& options) {
  return History(options).play();
}

}  // namespace pawl::sim
