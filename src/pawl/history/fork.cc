#include "pawl/history/fork.h"

#include <algorithm>

#include "pawl/journal/contents.h"
#include "pawl/kernel/tally.h"
#include "pawl/port/journal_checks.h"

namespace pawl {
namespace {

bool started_by(const Record& record, EffectId id) {
  return std::any_of(record.effects.begin(), record.effects.end(), [id](const Effect& effect) {
    return std::visit(
        [id](const auto& one) {
          if constexpr (requires { one.effect; }) return one.effect == id;
          return false;
        },
        effect);
  });
}

bool ends_step(const Record& record, std::uint64_t step) {
  return std::any_of(record.decisions.begin(), record.decisions.end(), [step](const Decision& one) {
    const StepEnded* ended = std::get_if<StepEnded>(&one);
    return ended != nullptr && ended->step == step;
  });
}

// Nothing is under way that an earlier record started, and no call is without its result.
bool at_rest(const RunState& state, const Record& last) {
  return state.calls.empty() &&
         std::all_of(state.open.begin(), state.open.end(),
                     [&last](const OpenEffect& open) { return started_by(last, open.id); });
}

const std::string& currency_of(const RunState& state) {
  return state.targets.front().prices.currency;
}

// What the prefix has cost was paid, whatever the fork's own model costs: the first reply that is
// told makes up for what failures before it cost less here. (Other money cannot be added up.)
void keep_cost(const RunState& told, const RunState& parent, const Stamp& stamp, Event& event) {
  std::optional<std::uint64_t>* stated = nullptr;
  if (auto* replied = std::get_if<ModelReplied>(&event)) stated = &replied->cost_pico;
  if (auto* compacted = std::get_if<ContextCompacted>(&event)) stated = &compacted->cost_pico;
  if (stated == nullptr || told.targets == parent.targets) return;
  if (currency_of(told) != currency_of(parent)) return;
  const std::uint64_t paid = parent.tally.cost_pico;
  if (tally_after(told, event, stamp).cost_pico == paid) return;
  *stated = paid - std::min(paid, told.tally.cost_pico);
}

}  // namespace

PrefixRewriter::PrefixRewriter(JournalReader& reader, const ForkRequest& request, ForkEdits edits,
                               std::function<void(RunStarted&)> change, Blobs blobs)
    : reader_(reader),
      parent_(request.parent),
      step_(request.instance ? 0 : request.step),
      instance_(request.instance),
      nth_(request.step),
      edits_(std::move(edits)),
      change_(std::move(change)),
      blobs_(blobs),
      walker_(reader, request.parent, kSliceBatchBytes) {
  if (step_ == 0 && !instance_) step_state_ = Step::ended;
}

Result<std::optional<WritePiece>> PrefixRewriter::next() {
  if (cut_ && walker_.loaded().run->length > cut_->seq) return std::optional<WritePiece>();
  PAWL_TRY(auto original, walker_.next());
  if (!original) return not_ended();
  if (!is_understood(*original)) return not_understood(parent_, original->seq);
  Ingress ingress;
  Event event = original->event;
  edits_.apply(rewritten_.run.state(), event, ingress);
  keep_cost(rewritten_.run.state(), walker_.loaded().run.state(), original->stamp, event);
  take_room(event, original->seq);
  if (auto* started = std::get_if<RunStarted>(&event)) {
    change_(*started);
    rewritten_.chain = chain_origin(started->run);
  }
  WritePiece piece;
  PAWL_TRY(piece.blobs, blobs_for(event, ingress));
  PAWL_TRY(last_, rewrite(std::move(event), *original));
  piece.bytes = encode_record(last_);
  piece.chain = rewritten_.chain = chain_after(rewritten_.chain, piece.bytes);
  rewritten_.bytes_since_snapshot += piece.bytes.size();
  if (!cut_) PAWL_CHECK(look_for_cut(*original));
  return std::optional<WritePiece>(std::move(piece));
}

void PrefixRewriter::take_room(Event& event, std::uint64_t seq) {
  auto* reopened = std::get_if<RunReopened>(&event);
  if (reopened != nullptr) room_seq_ = seq;
  if (seq != room_.seq) return;
  if (auto* started = std::get_if<RunStarted>(&event)) {
    if (room_.limits) started->limits = *room_.limits;
    if (room_.guards) started->guards = *room_.guards;
  } else if (reopened != nullptr) {
    if (room_.limits) reopened->limits = room_.limits;
    if (room_.guards) reopened->guards = room_.guards;
  }
}

// The parent's drivers are not the fork's; its clocks are: what the prefix took counts.
Result<Record> PrefixRewriter::rewrite(Event event, const Record& original) {
  Stamp stamp = original.stamp;
  stamp.epoch = kFirstEpoch;
  const std::uint64_t seq = rewritten_.run->length;
  const std::string what(name(event));
  if (std::holds_alternative<Unrecognised>(event)) {
    Record record;
    record.minor = original.minor;
    record.seq = seq;
    record.stamp = stamp;
    record.event = std::move(event);
    PAWL_CHECK(fold(rewritten_.run, record));
    return record;
  }
  auto record = advance(rewritten_.run, std::move(event), stamp);
  if (record) return record;
  return Error{ErrorCode::conflict,
               "record " + std::to_string(seq) + " (" + what + ") of run " + parent_.text +
                   " does not follow from the prefix as it is now: " + record.error().message};
}

Result<std::vector<StoredBlob>> PrefixRewriter::blobs_for(const Event& event,
                                                          Ingress& ingress) const {
  std::vector<StoredBlob> blobs = ingress.take_blobs();
  for (const BlobRef& blob : blobs_of(event)) {
    const bool new_here = std::any_of(blobs.begin(), blobs.end(), [&blob](const StoredBlob& one) {
      return one.digest == blob.digest;
    });
    if (new_here) continue;
    PAWL_CHECK(check_kept(blob));
    if (blobs_ == Blobs::left_out) continue;
    PAWL_TRY(std::string bytes, reader_.blob(parent_, blob.digest));
    blobs.push_back({blob.digest, std::move(bytes)});
  }
  return blobs;
}

// A model would have to go on without what it had read.
Status PrefixRewriter::check_kept(const BlobRef& blob) const {
  PAWL_TRY(const auto gone, reader_.expired_at(parent_, blob.digest));
  if (!gone) return ok();
  return Error{ErrorCode::conflict, "step " + std::to_string(step_) + " of run " + parent_.text +
                                        " cannot be forked at: of record " +
                                        std::to_string(walker_.loaded().run->length - 1) + ", " +
                                        expired_blob(parent_, blob.digest, *gone).message +
                                        "; fork at an earlier step"};
}

void PrefixRewriter::count_steps(const Record& original) {
  for (const Decision& one : original.decisions) {
    const StepBegan* began = std::get_if<StepBegan>(&one);
    const bool counts = began != nullptr && began->instance == instance_;
    if (counts && ++begun_ == nth_) step_ = began->step;
  }
}

// Whether such a call took effect nobody knows, and the fork would make it under a key of its own.
Status PrefixRewriter::check_open_calls(const Record& original) const {
  const RunState& state = walker_.loaded().run.state();
  for (const Call& call : state.calls) {
    const auto* running = std::get_if<CallRunning>(&call.state);
    const bool open = (running != nullptr && !started_by(original, running->effect)) ||
                      std::holds_alternative<CallDoubtful>(call.state);
    const PinnedTool* tool = open ? tool_of_call(state, call) : nullptr;
    if (tool == nullptr || tool->effect != EffectClass::once) continue;
    return Error{ErrorCode::conflict,
                 "step " + std::to_string(nth_) + " of " + to_string(*instance_) + " of run " +
                     parent_.text + " cannot be forked at: " + to_string(call.id) + " (" +
                     call.tool + ") of " + to_string(call.instance) +
                     " is a once call that was under way then; fork at another step"};
  }
  return ok();
}

Status PrefixRewriter::look_for_cut(const Record& original) {
  if (instance_) count_steps(original);
  if (step_ != 0 && ends_step(original, step_)) step_state_ = Step::ended;
  const LoadedRun& parent = walker_.loaded();
  if (step_state_ == Step::open) return ok();
  if (!instance_ && !at_rest(parent.run.state(), original)) return ok();
  if (instance_) PAWL_CHECK(check_open_calls(original));
  cut_ = ForkCut{original.seq, parent.chain};
  return ok();
}

bool PrefixRewriter::leaves_open() const {
  const auto& open = rewritten_.run->open;
  return std::any_of(open.begin(), open.end(),
                     [this](const OpenEffect& one) { return !started_by(last_, one.id); });
}

Error PrefixRewriter::not_ended() const {
  const RunState& state = walker_.loaded().run.state();
  if (instance_) {
    const std::string which = "step " + std::to_string(nth_) + " of " + to_string(*instance_);
    return begun_ < nth_ ? Error{ErrorCode::invalid_argument,
                                 "run " + parent_.text + " has no " + which + ": " +
                                     to_string(*instance_) + " has taken " + std::to_string(begun_)}
                         : Error{ErrorCode::conflict, which + " of run " + parent_.text +
                                                          " has not ended; fork at an earlier one"};
  }
  const std::string step = std::to_string(step_);
  if (step_state_ == Step::ended) {
    return Error{ErrorCode::conflict,
                 "step " + step + " of run " + parent_.text +
                     " has calls that have not ended; fork at an earlier step"};
  }
  if (state.tally.steps < step_) {
    return Error{ErrorCode::invalid_argument, "run " + parent_.text + " has " +
                                                  std::to_string(state.tally.steps) +
                                                  " steps; it has no step " + step};
  }
  return Error{ErrorCode::conflict, "step " + step + " of run " + parent_.text +
                                        " has not ended; fork at an earlier one"};
}

}  // namespace pawl
