// The third of the oracle that watches who permitted what: gates, people, and what came of it.
#include "pawl/kernel/codec.h"
#include "pawl/testing/sim/oracle.h"

namespace pawl::sim {
namespace {

using Word = CallStanding::Word;

// As somebody sent it off: what it grants is the driver's to say.
std::string as_sent(CallDecided decided) {
  decided.granted.reset();
  decided.signed_by.clear();
  return encode_event(decided);
}

// Two calls of one run may carry these bytes; then nobody knows which one the gate spoke about.
bool is_ambiguous(const std::string& input) {
  return input == kRepeatedInput;
}

bool is_past(const ApprovalAsked& asked, const Stamp& stamp) {
  return asked.expires_at_ms > 0 && stamp.at_ms >= asked.expires_at_ms;
}

}  // namespace

void Oracle::on_gate_said(const RunId& run, const ProposedCall& call, CallVerdict verdict) {
  words_[{run.text, call.tool, call.input}] = verdict;
}

void Oracle::on_person_decided(const RunId& run, const CallDecided& decided) {
  ++sent_[run.text][as_sent(decided)];
}

void Oracle::take_permissions(Track& track, const RunId& id, const Record& record) {
  if (const auto* judged = std::get_if<CallJudged>(&record.event)) {
    CallStanding& standing = track.standings[judged->call];
    const std::string tool = standing.tool;
    standing = {};
    standing.tool = tool;
  }
  if (std::holds_alternative<CallDecided>(record.event)) take_decided(track, id, record);
  for (const Decision& decision : record.decisions) {
    if (std::holds_alternative<CallOpened>(decision)) ++track.tool_calls;
    if (std::holds_alternative<CallAnswered>(decision)) ++track.tool_calls;
    if (const auto* refused = std::get_if<CallRefused>(&decision)) {
      track.tool_calls += refused->because != RefusedBecause::truncated &&
                          refused->because != RefusedBecause::yielded;
    }
    if (const auto* permitted = std::get_if<CallPermitted>(&decision)) {
      CallStanding& standing = track.standings[permitted->call];
      if (standing.word == Word::denied) fail("what was denied is permitted");
      standing.word = Word::permitted;
    }
    if (const auto* asked = std::get_if<ApprovalAsked>(&decision)) take_asked(track, *asked);
    if (const auto* denied = std::get_if<CallDenied>(&decision)) {
      take_denied(track.standings[denied->call], *denied, record.stamp);
    }
  }
  check_started(track, record);
}

// The question is about the bytes of this call, under a policy there was.
void Oracle::take_asked(Track& track, const ApprovalAsked& asked) {
  CallStanding& standing = track.standings[asked.call];
  standing.word = Word::unspoken;
  standing.asked = asked;
  const Call* call = find_call(track.run.state(), asked.call);
  const std::string& tool = call != nullptr ? call->tool : standing.tool;
  const std::string& input = track.inputs[asked.call];
  for (std::uint64_t version = 1; version <= SimPolicy::kVersions; ++version) {
    if (asked.binding == SimPolicy::binding_under(version, tool, input)) return;
  }
  fail("a person is asked about something else than " + to_string(asked.call) + " would do");
}

void Oracle::take_decided(Track& track, const RunId& id, const Record& record) {
  const auto& decided = std::get<CallDecided>(record.event);
  const std::string where = "the decision about " + to_string(decided.call);
  CallStanding& standing = track.standings[decided.call];
  const std::string sent = as_sent(decided);
  if (++track.decided[sent] > sent_[id.text][sent]) {
    return fail(where + " was taken more often than anybody made it");
  }
  if (!standing.asked) return fail(where + " is taken, and nobody was asked");
  if (decided.binding != standing.asked->binding) fail(where + " is about something else");
  if (is_past(*standing.asked, record.stamp)) fail(where + " comes after it has expired");
  const ApprovalAsked asked = *std::exchange(standing.asked, std::nullopt);
  if (decided.decision == InterruptDecision::input) {
    if (decided.text.bytes() != nullptr) track.results[decided.call] = *decided.text.bytes();
    standing.word = Word::denied;  // The answer stands in its place.
  }
  if (decided.decision != InterruptDecision::approve) return;
  const RunState& state = track.run.state();
  if (state.approvers == Approvers::others && decided.signed_by.empty()) {
    fail(where + " is signed by nobody");
  }
  if (state.approvers == Approvers::others && decided.by == state.started_by) {
    fail(where + " is of the one who started the run");
  }
  if (asked.kind == InterruptKind::input) fail(where + " is none that was asked for");
  standing.granted = decided.granted.value_or(decided.binding);
  if (decided.edited) standing.edited = *decided.edited->bytes();
}

void Oracle::take_denied(CallStanding& standing, const CallDenied& denied, const Stamp& stamp) {
  standing.word = Word::denied;
  if (denied.stage != GateStage::expiry) return;
  const bool due = standing.asked && standing.asked->expires_at_ms > 0 &&
                   (stamp.at_ms >= standing.asked->expires_at_ms ||
                    stamp.elapsed_ms >= standing.asked->expires_elapsed_ms);
  if (!due) fail(to_string(denied.call) + " has expired, and nobody said when it would");
}

// What is to be started was permitted, by this record or an earlier one; and an approval is used by
// the record that takes it, or held while the run is paused.
void Oracle::check_started(const Track& track, const Record& record) {
  bool started = false;
  const auto* decided = std::get_if<CallDecided>(&record.event);
  for (const Effect& effect : record.effects) {
    const auto* run = std::get_if<RunTool>(&effect);
    if (run == nullptr) continue;
    const auto standing = track.standings.find(run->call);
    if (standing == track.standings.end() || standing->second.word != Word::permitted) {
      fail(to_string(run->call) + " is to be started, and nobody has permitted it");
    }
    started = started || (decided != nullptr && run->call == decided->call);
  }
  if (decided == nullptr || decided->decision != InterruptDecision::approve || started) return;
  bool excused = std::holds_alternative<Pausing>(track.run->course);
  for (const Decision& decision : record.decisions) {
    excused = excused || std::holds_alternative<EndingBegan>(decision);
  }
  if (!excused) fail("an approval is taken by one record, and used by another");
}

// The last look before a tool has its way.
void Oracle::check_permitted(const Track& track, const ToolInvocation& invocation) {
  const auto found = track.standings.find(invocation.call);
  const Call* call = find_call(track.run.state(), invocation.call);
  if (found == track.standings.end() || call == nullptr) return;  // said elsewhere
  const CallStanding& standing = found->second;
  const std::string where = to_string(invocation.call) + " of run " + invocation.run.text;
  if (standing.word != Word::permitted) return fail(where + " runs, and nobody has permitted it");
  const auto word = words_.find({invocation.run.text, call->tool, invocation.input});
  if (word == words_.end()) return fail(where + " runs, and the gate never saw it");
  if (standing.granted && *standing.granted != policy_.binding_of(call->tool, invocation.input)) {
    return fail(where + " runs, and what was approved is something else");
  }
  if (is_ambiguous(invocation.input)) return;
  if (word->second == CallVerdict::deny) return fail(where + " runs, and the gate denied it");
  if (!standing.granted && word->second != CallVerdict::allow) {
    fail(where + " runs, the gate said " + std::string(name(word->second)) +
         ", and nobody approved it");
  }
}

}  // namespace pawl::sim
