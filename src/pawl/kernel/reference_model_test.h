// What somebody outside must be able to rely on, written down a second time and differently: it
// looks at events, decisions and effects only, and keeps its own books.
#pragma once

#include <map>
#include <set>
#include <string>

#include "pawl/kernel/kernel.h"
#include "pawl/kernel/shown_test.h"

namespace pawl::testing {

class ReferenceModel {
 public:
  // Empty, or the first thing that must not have happened.
  std::string observe(const Record& record) {
    fault_.clear();
    started_here_.clear();
    calls_asked_ = calls_answered_ = 0;
    gone_ = stop_asked_ = false;
    const bool was_done = ending_ && ended_as_ == RunStatus::done;
    const bool waited = live_ && !ending_ && open_.empty();
    if (const auto* start = std::get_if<RunStarted>(&record.event)) start_ = *start;
    if (!waited && live_) active_ms_ += record.stamp.elapsed_ms - elapsed_ms_;
    elapsed_ms_ = record.stamp.elapsed_ms;
    const auto take_one = [&](const auto& one) { take(one, record); };
    std::visit(take_one, record.event);
    for (const Decision& one : record.decisions) std::visit(take_one, one);
    for (const Effect& one : record.effects) std::visit(take_one, one);
    check_bounds();
    check_reply();
    if (was_done && ending_ && ended_as_ != RunStatus::done) {
      blame("what was done is " + shown(ended_as_));
    }
    if (live_ && open_.empty() && ending_) blame("it is ending, and nothing is under way");
    if (std::holds_alternative<DriverAttached>(record.event)) {
      for (const auto& [id, effect] : open_) {
        if (started_here_.count(id) == 0) blame(to_string(id) + " survived its process");
      }
    }
    return fault_;
  }

  // Empty, or where the kernel's books differ from these.
  std::string compare(const RunState& state) {
    fault_.clear();
    same("steps", state.tally.steps, steps_);
    same("model_calls", state.tally.model_calls, model_calls_);
    same("tool_calls", state.tally.tool_calls, tool_calls_);
    same("tokens", total_tokens(state.tally.usage), tokens_);
    same("cost", state.tally.cost_pico, cost_);
    same("active_ms", state.tally.active_ms, active_ms_);
    same("bytes_in", state.tally.bytes_in, bytes_in_);
    same("open effects", state.open.size(), open_.size());
    for (const OpenEffect& one : state.open) {
      if (open_.count(one.id) == 0) blame(to_string(one.id) + " should not be open");
    }
    same("calls", state.calls.size(), calls_.size());
    for (const Call& one : state.calls) {
      const std::string kind =
          std::visit([](const auto& s) { return std::string(s.kName); }, one.state);
      if (calls_[one.id].state != kind) blame(to_string(one.id) + " is " + kind);
    }
    const std::string status = !live_ ? shown(ended_as_) : waits() ? "waiting" : "running";
    if (status != name(status_of(state))) blame("the status should be " + status);
    return fault_;
  }

 private:
  struct OneCall {
    InstanceId instance{};
    EffectClass effect = EffectClass::once;
    OnDoubt on_doubt = OnDoubt::wait;
    std::string state = "held";
    std::uint32_t runs = 0;
    bool known_absent = false;  // somebody who knows said that it did not happen
    bool has_evidence = false;
    bool permitted = false;  // by a rule or by a person, for the bytes it has now
    Digest binding = {};     // of what was put before a person
  };
  struct Repeats {
    std::uint64_t fingerprint = 0;
    std::uint32_t count = 0;
  };

  void blame(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }
  void same(const char* what, std::uint64_t kernel, std::uint64_t here) {
    if (kernel != here) {
      blame(std::string(what) + ": " + std::to_string(kernel) + ", not " + std::to_string(here));
    }
  }
  bool waits() const { return live_ && !ending_ && open_.empty() && retries_.empty(); }

  // --- Events: what they close -----------------------------------------------------------------

  void close(EffectId effect, const char* kind) {
    const auto found = open_.find(effect);
    if (found == open_.end() || found->second.first != kind) {
      return blame(to_string(effect) + " is reported as " + kind + ", and is no such thing");
    }
    open_.erase(found);
  }
  void read(const Content& content) { bytes_in_ += content.length(); }
  void use(const Usage& usage) { tokens_ = add_saturating(tokens_, total_tokens(usage)); }
  // What an effect was charged, at the prices of the model it went to.
  void pay(EffectId effect, const Usage& usage, std::optional<std::uint64_t> stated = {}) {
    use(usage);
    cost_ += stated.value_or(cost_pico(usage, prices(targets_[effect])));
    set_aside_.erase(effect);
  }
  Prices prices(std::uint32_t target) const {
    return start_.targets.empty() ? start_.prices : start_.targets.at(target).prices;
  }
  void set_aside(EffectId effect, const Usage& usage, std::uint32_t target) {
    targets_[effect] = target;
    set_aside_[effect] = worst_cost_pico(usage, prices(target), 2);
    std::uint64_t sum = cost_;
    for (const auto& [id, pico] : set_aside_) sum += pico;
    if (cap_ > 0 && sum > cap_) blame("more is set aside than there is money");
    tokens_aside_[effect] = total_tokens(usage);
    std::uint64_t tokens = tokens_;
    for (const auto& [id, aside] : tokens_aside_) {
      if (set_aside_.contains(id)) tokens += aside;
    }
    if (token_cap_ > 0 && tokens > token_cap_) blame("more is set aside than there are tokens");
    if (time_cap_ > 0 && active_ms_ >= time_cap_) blame("it goes on beyond its budget of time");
    if (ask_ > 0 && cost_ >= ask_) blame("it goes on, and was to ask first");
  }

  void take(const RunStarted& event, const Record&) {
    live_ = true;
    cap_ = event.limits.cost_pico;
    ask_ = event.limits.ask_cost_pico;
    token_cap_ = event.limits.budget_tokens;
    time_cap_ = event.limits.budget_ms;
    read(event.input);
  }
  void take(const RunReopened& event, const Record&) {
    if (live_) blame("a run is reopened that is not over");
    live_ = true;
    ending_ = paused_ = false;
    if (event.limits) {
      start_.limits = *event.limits;
      cap_ = event.limits->cost_pico;
      ask_ = event.limits->ask_cost_pico;
      token_cap_ = event.limits->budget_tokens;
      time_cap_ = event.limits->budget_ms;
    }
    if (event.guards) start_.guards = *event.guards;
    errors_.clear();
    repeats_.clear();
    tried_.clear();
    retries_.clear();
    read(event.message);
    if (!event.message.empty()) ++messages_[kRootInstance];
  }
  void take(const MessageReceived& event, const Record&) {
    read(event.text);
    ++messages_[event.instance];
  }
  void hear(const std::vector<Block>& blocks) {
    for (const Block& one : blocks) calls_asked_ += std::holds_alternative<CallBlock>(one);
    if (blocks.size() > kBlocksPerReplyMax) stop_asked_ = true;
  }
  void take(const ModelReplied& event, const Record&) {
    close(event.effect, "call_model");
    pay(event.effect, event.usage, event.cost_pico);
    hear(event.blocks);
    if (event.callback_stop) stop_asked_ = true;
  }
  void take(const ModelFailed& event, const Record&) {
    close(event.effect, "call_model");
    pay(event.effect, event.usage);
    const bool asked = event.kind != FailureKind::circuit_open && event.kind != FailureKind::budget;
    if (!asked) --model_calls_;
  }
  void take(const ModelAborted& event, const Record&) {
    close(event.effect, "call_model");
    pay(event.effect, event.usage);
  }
  void take(const ContextCompacted& event, const Record&) {
    close(event.effect, "compact_context");
    pay(event.effect, event.usage, event.cost_pico);
  }
  void take(const CompactionFailed& event, const Record&) {
    close(event.effect, "compact_context");
    pay(event.effect, event.usage);
  }
  void take(const BudgetRaised& event, const Record&) {
    if (cap_ > 0) cap_ += event.cost_pico;
    if (ask_ > 0) ask_ = std::max(ask_, cost_) + event.cost_pico;
    if (token_cap_ > 0) token_cap_ += event.tokens;
    if (time_cap_ > 0 && event.time_ms > 0) {
      time_cap_ = std::max(time_cap_, active_ms_) + event.time_ms;
    }
  }
  void take(const ExternalTurnPushed& event, const Record&) {
    cost_ += cost_pico(event.usage, prices(0));
    use(event.usage);
    hear(event.blocks);
  }
  void take(const AgentBegan& event, const Record&) { close(event.effect, "begin_agent"); }
  void take(const RunFinished& event, const Record&) {
    close(event.effect, "end_agent");
    if (!open_.empty()) blame("it is over, and something is under way");
    live_ = false;
  }
  void take(const ToolFinished& event, const Record&) {
    close(event.effect, "run_tool");
    read(event.content);
    OneCall& call = calls_[event.call];
    const bool cut = event.end == ToolEnd::timed_out || event.end == ToolEnd::aborted;
    const bool asks = call.effect == EffectClass::once || call.effect == EffectClass::reconcilable;
    const bool again =
        cut && !asks && !ending_ && call.runs < rules_of(kSemantics).tool_attempts_max;
    call.state = !cut    ? "ended"
                 : asks  ? "must be doubted or asked about"
                 : again ? "must be run again"
                         : "ended";
    if (event.callback_stop) stop_asked_ = true;
    std::uint32_t& errors = errors_[event.instance];
    errors = event.end == ToolEnd::succeeded ? 0 : errors + 1;
  }
  void take(const ResultCameLate& event, const Record&) {
    OneCall& call = calls_[event.call];
    if (call.has_evidence) blame("evidence is taken twice");
    if (call.state == "running" || call.state == "ended") blame("evidence about what is known");
    call.has_evidence = true;
  }
  void take(const ToolStatusLearned& event, const Record&) {
    close(event.effect, "ask_status");
    if (event.answer == StatusAnswer::done) read(event.content);
    OneCall& call = calls_[event.call];
    call.known_absent = event.answer == StatusAnswer::absent;
    call.state = event.answer == StatusAnswer::done     ? "ended"
                 : event.answer == StatusAnswer::absent ? "held"
                                                        : "must be doubted";
  }
  void take(const DoubtResolved& event, const Record&) {
    read(event.result);
    OneCall& call = calls_[event.call];
    if (call.state != "in_doubt") blame("a doubt is resolved that is none");
    call.known_absent = event.verdict == DoubtVerdict::did_not_happen;
    call.state = call.known_absent ? "held" : "ended";
  }
  // What was not started was no run of it.
  void take(const CallJudged& event, const Record&) {
    const auto found = open_.find(event.effect);
    if (found == open_.end()) return blame("a judgement about what is not open");
    OneCall& call = calls_[event.call];
    if (found->second.first == "run_tool" && --call.runs > 0) call.known_absent = true;
    open_.erase(found);
    call.permitted = false;
    call.state = "held";
  }
  void take(const CallDecided& event, const Record&) {
    read(event.text);
    OneCall& call = calls_[event.call];
    if (call.state != "awaiting_person") blame("a decision about what nobody asked");
    if (call.binding != event.binding) blame("a decision about something else");
    call.state = event.decision == InterruptDecision::input ? "ended" : "held";
  }
  void take(const HookStopped& event, const Record&) {
    const auto found = open_.find(event.effect);
    if (found == open_.end()) return;
    const auto [kind, id] = found->second;
    const bool model =
        event.point == HookPoint::before_model || event.point == HookPoint::after_model;
    const bool tool = event.point == HookPoint::before_tool || event.point == HookPoint::after_tool;
    if (model && kind == "call_model") {
      set_aside_.erase(found->first);
      open_.erase(found);
    }
    if (tool && kind == "run_tool") {
      open_.erase(found);
      calls_[id].state = "held";
      calls_[id].known_absent = event.point == HookPoint::before_tool;  // It was not started.
    }
  }
  void take(const InstanceSpawned& event, const Record&) { read(event.input); }

  // --- Decisions -------------------------------------------------------------------------------

  void take(const StepBegan&, const Record&) { ++steps_; }
  void take(const CallOpened& one, const Record& record) {
    const auto* reply = std::get_if<ModelReplied>(&record.event);
    const auto& blocks =
        reply != nullptr ? reply->blocks : std::get<ExternalTurnPushed>(record.event).blocks;
    ++tool_calls_;
    count(one.instance, one.fingerprint);
    for (const PinnedTool& tool : start_.tools) {
      if (tool.name == std::get<CallBlock>(blocks.at(one.index)).tool) {
        calls_[one.call] = {one.instance, tool.effect, tool.on_doubt, "held", 0,
                            false,        false,       false,         {}};
      }
    }
  }
  void take(const CallRefused& one, const Record&) {
    const bool meant =
        one.because != RefusedBecause::truncated && one.because != RefusedBecause::yielded;
    if (meant) ++tool_calls_;
    if (meant) ++errors_[one.instance];
    if (meant) count(one.instance, one.fingerprint);
    if (!meant) ++calls_answered_;
    calls_[one.call] = {one.instance, {}, {}, "ended", 0, false, false, false, {}};
  }
  void count(InstanceId instance, std::uint64_t fingerprint) {
    ++calls_answered_;
    Repeats& seen = repeats_[instance];
    seen.count = seen.fingerprint == fingerprint ? seen.count + 1 : 1;
    seen.fingerprint = fingerprint;
    const std::uint32_t allowed = start_.guards.identical_calls;
    if (allowed > 0 && seen.count >= allowed) blame("an identical call is made too often");
  }
  void take(const CallRetried& one, const Record&) {
    if (calls_[one.call].state != "must be run again") blame("it is not to be run again");
    --errors_[calls_[one.call].instance];  // What is tried again has not failed yet.
    calls_[one.call].state = "held";
  }
  void take(const MessagesDelivered& one, const Record&) {
    if (messages_[one.instance] != one.count) blame("other messages wait");
    messages_[one.instance] = 0;
  }
  void take(const InstanceCeded& one, const Record&) {
    if (messages_[one.instance] > 0) blame("an instance goes, and its messages with it");
    gone_ = true;
  }
  void take(const CallInDoubt& one, const Record&) { calls_[one.call].state = "in_doubt"; }
  void take(const CallUnknown& one, const Record&) {
    if (calls_[one.call].on_doubt != OnDoubt::tell_model) blame("nobody said to tell the model");
    calls_[one.call].state = "ended";
  }
  void take(const CallHeld& one, const Record&) { calls_[one.call].state = "held"; }
  void take(const CallPermitted& one, const Record&) { calls_[one.call].permitted = true; }
  void take(const ApprovalAsked& one, const Record&) {
    calls_[one.call].state = "awaiting_person";
    calls_[one.call].binding = one.binding;
  }
  void take(const CallDenied& one, const Record&) {
    ++errors_[calls_[one.call].instance];
    calls_[one.call].state = "ended";
  }
  void take(const JudgeCall& one, const Record&) {
    if (paused_ || ending_) blame("a call is judged while the run is paused or ending");
    calls_[one.call].state = "judging";
    open(one.effect, "judge_call", one.call);
  }
  void take(const ResultsTaken& one, const Record&) {
    for (auto call = calls_.begin(); call != calls_.end();) {
      const bool mine = call->second.instance == one.instance;
      if (mine && call->second.state != "ended") blame("results are taken that are not there");
      call = mine ? calls_.erase(call) : std::next(call);
    }
  }
  void take(const AttemptDiscarded& one, const Record&) {
    const auto found = open_.find(one.effect);
    if (found == open_.end()) return blame("an attempt is discarded that is not open");
    const auto [kind, id] = found->second;
    if (kind == "run_tool" || kind == "ask_status") {
      const bool asks =
          calls_[id].effect == EffectClass::once || calls_[id].effect == EffectClass::reconcilable;
      calls_[id].state = asks ? "must be doubted or asked about" : "held";
    }
    if (kind == "judge_call") calls_[id].state = "held";
    const bool paid = kind == "call_model" || kind == "compact_context";
    if (paid && one.charged != reserved_[one.effect]) {
      blame("a lost model call is not charged what was reserved");
    }
    open_.erase(found);
    pay(one.effect, one.charged, worst_cost_pico(one.charged, prices(targets_[one.effect]), 2));
  }
  void take(const RetryPlanned& one, const Record&) { retries_.insert(one.instance); }
  void take(const InstanceReadied& one, const Record&) { retries_.erase(one.instance); }
  void take(const InstanceBorn&, const Record&) { ++branches_; }
  void take(const PauseBegan&, const Record&) { paused_ = true; }
  void take(const PauseEnded&, const Record&) { paused_ = false; }
  void take(const EndingBegan& one, const Record& record) {
    if (ending_) blame("it ends twice");
    const bool by_result = std::holds_alternative<ToolFinished>(record.event);
    if (by_result && one.reason == StopReason::tool_errors &&
        errors_[record.instance] < start_.guards.tool_errors) {
      blame("it ends for tool errors that were none");
    }
    ending_ = true;
    ended_as_ = one.status;
    if (one.status == RunStatus::done && messages_[kRootInstance] > 0) {
      blame("it is done, and a message was not answered");
    }
    for (auto& [id, call] : calls_) {
      if (call.state == "must be run again") call.state = "ended";
    }
  }
  void take(const EndingWithdrawn&, const Record&) { ending_ = false; }

  // --- Effects ---------------------------------------------------------------------------------

  void open(EffectId effect, const char* kind, CallId call) {
    if (effect <= newest_) blame(to_string(effect) + " is not new");
    newest_ = effect;
    open_[effect] = {kind, call};
    started_here_.insert(effect);
  }
  void take(const CallModel& one, const Record&) {
    if (paused_ || ending_) blame("a model is called while the run is paused or ending");
    if (tokens_ >= start_.limits.tokens) blame("a model is called beyond the tokens");
    if (active_ms_ >= start_.limits.time_ms) blame("a model is called beyond the time");
    if (bytes_in_ > start_.limits.bytes_in) blame("a model is called beyond the bytes");
    ++model_calls_;
    if (one.target < tried_[{one.instance, one.step}]) blame("an earlier model is tried again");
    tried_[{one.instance, one.step}] = one.target;
    reserved_[one.effect] = one.reserved;
    set_aside(one.effect, one.reserved, one.target);
    retries_.erase(one.instance);
    open(one.effect, "call_model", {});
  }
  void take(const CompactContext& one, const Record&) {
    if (paused_ || ending_) blame("it is summed up while the run is paused or ending");
    reserved_[one.effect] = one.reserved;
    set_aside(one.effect, one.reserved, one.target);
    retries_.erase(one.instance);
    open(one.effect, "compact_context", {});
  }
  void take(const BudgetHeld& one, const Record&) { retries_.erase(one.instance); }
  void take(const TargetChanged& one, const Record&) { retries_.erase(one.instance); }
  void take(const RunTool& one, const Record&) {
    OneCall& call = calls_[one.call];
    if (paused_ || ending_) blame("a tool is run while the run is paused or ending");
    if (!call.permitted) blame(to_string(one.call) + " is run, and nobody has permitted it");
    if (active_ms_ > start_.limits.time_ms) blame("a tool is run beyond the time");
    if (tokens_ > start_.limits.tokens) blame("a tool is run beyond the tokens");
    if (bytes_in_ > start_.limits.bytes_in) blame("a tool is run beyond the bytes");
    const bool asks = call.effect == EffectClass::once || call.effect == EffectClass::reconcilable;
    if (asks && call.runs > 0 && !call.known_absent) blame(to_string(one.call) + " is run twice");
    if (call.state != "held" && asks) blame("a " + call.state + " call is run");
    call.known_absent = false;
    call.state = "running";
    ++call.runs;
    open(one.effect, "run_tool", one.call);
  }
  void take(const AskStatus& one, const Record&) {
    if (paused_ || ending_) blame("a status is asked for while the run is paused or ending");
    if (calls_[one.call].effect != EffectClass::reconcilable) blame("it cannot be asked about");
    calls_[one.call].state = "asking";
    open(one.effect, "ask_status", one.call);
  }
  void take(const AbortEffect& one, const Record&) {
    if (open_.count(one.target) == 0) blame(to_string(one.target) + " is aborted, and not open");
  }
  void take(const BeginAgent& one, const Record&) {
    if (paused_ || ending_) blame("callbacks are called while the run is paused or ending");
    open(one.effect, "begin_agent", {});
  }
  void take(const EndAgent& one, const Record&) {
    if (!ending_ || !open_.empty()) blame("the end begins too early");
    open(one.effect, "end_agent", {});
  }
  template <class Other>
  void take(const Other&, const Record&) {}

  void check_bounds() {
    const Limits& limits = start_.limits;
    if (steps_ > limits.steps) blame("more steps than allowed");
    if (model_calls_ > limits.model_calls) blame("more model calls than allowed");
    if (tool_calls_ > limits.tool_calls) blame("more tool calls than allowed");
    if (branches_ > limits.branches) blame("more branches than allowed");
    for (const auto& [id, call] : calls_) {
      if (call.state.starts_with("must")) blame(to_string(id) + " " + call.state);
    }
  }

  // Every call has a result, though its run may end (it may go on later), and none that was to stop
  // goes on.
  void check_reply() {
    if (stop_asked_ && !ending_) blame("it was to stop, and goes on");
    if (!gone_ && calls_asked_ != calls_answered_) blame("a call has no result");
  }

  RunStarted start_;
  bool live_ = false;
  bool paused_ = false;
  bool ending_ = false;
  RunStatus ended_as_ = RunStatus::queued;
  std::uint64_t steps_ = 0;
  std::uint64_t model_calls_ = 0;
  std::uint64_t tool_calls_ = 0;
  std::uint64_t branches_ = 0;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t tokens_ = 0;
  std::uint64_t active_ms_ = 0;
  std::uint64_t elapsed_ms_ = 0;
  std::uint64_t cost_ = 0;
  std::uint64_t cap_ = 0;
  std::uint64_t token_cap_ = 0;
  std::uint64_t time_cap_ = 0;
  std::map<EffectId, std::uint64_t> tokens_aside_;
  std::uint64_t ask_ = 0;
  std::map<EffectId, std::uint32_t> targets_;
  std::map<EffectId, std::uint64_t> set_aside_;
  std::map<std::pair<InstanceId, std::uint64_t>, std::uint32_t> tried_;
  EffectId newest_{};
  std::map<EffectId, std::pair<std::string, CallId>> open_;
  std::set<EffectId> started_here_;
  std::map<EffectId, Usage> reserved_;
  std::set<InstanceId> retries_;
  std::map<InstanceId, std::uint64_t> messages_;  // that wait
  std::map<InstanceId, Repeats> repeats_;
  std::map<InstanceId, std::uint32_t> errors_;  // of tools, in a row
  std::uint64_t calls_asked_ = 0;               // by the reply of this record
  std::uint64_t calls_answered_ = 0;
  bool gone_ = false;
  bool stop_asked_ = false;
  std::map<CallId, OneCall> calls_;
  std::string fault_;
};

}  // namespace pawl::testing
