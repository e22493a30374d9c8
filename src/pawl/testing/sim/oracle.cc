#include "pawl/testing/sim/oracle.h"

#include <algorithm>
#include <cstring>

#include "pawl/base/rng.h"
#include "pawl/journal/contents.h"
#include "pawl/kernel/codec.h"
#include "pawl/kernel/invariants.h"

namespace pawl::sim {
namespace {

std::string text_of(const RunId& run, std::uint64_t seq) {
  return "record " + std::to_string(seq) + " of run " + run.text;
}

}  // namespace

bool has_reader(const RunState& state, const MessageReceived& message) {
  const Instance* reader = find_instance(state, message.instance);
  const bool ending = !std::holds_alternative<Going>(state.course) &&
                      !std::holds_alternative<Pausing>(state.course);
  const bool late = ending && message.delivery == Delivery::silent;
  const bool final = late || (state.final_output && message.instance == kRootInstance);
  return reader != nullptr && is_live(*reader) && !final &&
         !std::holds_alternative<Flowing>(reader->phase);
}

void Oracle::fail(const std::string& what) {
  if (!violation_) violation_ = what;
}

// --- What becomes durable ----------------------------------------------------------------------

void Oracle::check_decision(Track& track, const Record& record, const std::string& bytes) {
  const auto again = advance(track.decided_again, record.event, record.stamp);
  if (!again) return fail("deciding again is refused: " + again.error().message);
  if (encode_record(*again) != bytes) fail("deciding again gives another record");
}

void Oracle::check_limits(const RunId& id, const Track& track) {
  const Tally& tally = track.run->tally;
  const Limits& limits = track.run->limits;
  if (tally.steps != track.steps || tally.model_calls != track.model_calls ||
      tally.tool_calls != track.tool_calls) {
    fail("run " + id.text + " counts other steps or calls than its journal holds");
  }
  if (tally.usage != track.usage || tally.cost_pico != track.cost_pico) {
    fail("run " + id.text + " counts another use or cost than its journal holds");
  }
  if (tally.steps > limits.steps || tally.model_calls > limits.model_calls ||
      tally.tool_calls > limits.tool_calls) {
    fail("run " + id.text + " ran past a limit");
  }
}

// The run's own clock goes with the machine's while a process drives it, from where it was.
void Oracle::on_handed_over(const Append& append) {
  const auto record = decode_record(append.bytes);
  if (violation_ || !record) return;
  const auto* started = std::get_if<RunStarted>(&record->event);
  if (started != nullptr && started->forked_from) {
    told_again_[append.run.text] = started->forked_from->seq;
  }
  const auto told = told_again_.find(append.run.text);
  if (told != told_again_.end() && append.seq <= told->second) return;  // the other run's times
  const std::uint64_t elapsed_ms = record->stamp.elapsed_ms;
  const std::pair drive(append.run.text, append.epoch);
  const bool attached = std::holds_alternative<DriverAttached>(record->event);
  if (attached || !clocks_.contains(drive)) clocks_[drive] = {elapsed_ms, clock_.monotonic_ms()};
  const auto& [elapsed_before, at_ms] = clocks_[drive];
  const auto passed = static_cast<std::uint64_t>(clock_.monotonic_ms() - at_ms);
  if (elapsed_ms - elapsed_before != passed) {
    fail(text_of(append.run, append.seq) + " is stamped " + std::to_string(elapsed_ms) +
         " ms; by the clock it is " + std::to_string(elapsed_before + passed));
  }
}

void Oracle::on_durable(const Append& append) {
  if (violation_) return;
  Track& track = tracks_[append.run.text];
  if (append.seq == 0) track.chain = chain_origin(append.run);
  const std::string where = text_of(append.run, append.seq);
  if (append.seq != track.chains.size()) return fail(where + " does not follow the one before");
  if (chain_after(track.chain, append.bytes) != append.chain) {
    return fail(where + " does not continue the chain");
  }
  const auto record = decode_record(append.bytes);
  if (!record) return fail(where + " cannot be decoded: " + record.error().message);
  if (record->stamp.epoch != append.epoch) fail(where + " is stamped with another epoch");
  check_decision(track, *record, append.bytes);
  take(track, append.run, *record);
  ++met_.events[record->event.index()];
  for (const Decision& decision : record->decisions) ++met_.decisions[decision.index()];
  note_inbox(append.run, track, *record);
  if (violation_)
    violation_ = where + " (" + std::string(name(record->event)) + "): " + *violation_;
  const bool is_now = append.snapshot && append.snapshot->seq == append.seq;
  if (is_now && append.snapshot->state != encode_snapshot(track.run)) {
    fail("the snapshot after " + where + " is not the state");
  }
  track.chain = append.chain;
  track.chains.push_back(append.chain);
  ++records_;
  std::uint64_t word = 0;
  std::memcpy(&word, append.chain.bytes.data(), sizeof word);
  hash_ = Rng::mixed(hash_ ^ word ^ static_cast<std::uint64_t>(clock_.monotonic_ms()));
}

// Whoever ends or parks a run looks into the inbox after the record that says so is durable. What
// was there by then must not be left behind.
void Oracle::note_inbox(const RunId& id, Track& track, const Record& record) {
  const bool rests = std::holds_alternative<RunWaiting>(record.event) ||
                     std::any_of(record.effects.begin(), record.effects.end(), [](const auto& one) {
                       return std::holds_alternative<EndAgent>(one);
                     });
  if (rests) {
    const auto rows = storage_->index().pending(id);
    track.rows_before_rest = rows->empty() ? 0 : rows->back().row;
  }
  if (!std::holds_alternative<RunFinished>(record.event)) return;
  // What was accepted is delivered, or refused while its sender can be told: not left behind.
  if (const auto left = storage_->index().pending(id); !left->empty()) {
    fail("run " + id.text + " ended, and left accepted rows in its inbox");
  }
  if (status_of(track.run.state()) != RunStatus::done) return;
  for (const Instance& instance : track.run->instances) {
    if (is_live(instance) && instance.waiting_messages.size() > instance.silent_messages) {
      fail("it is done, and a message was not answered");
    }
  }
}

void Oracle::on_let_go(const RunId& run) {
  Track& track = tracks_[run.text];
  if (track.standing == Track::Standing::sound) check_inbox(run, track, "was let go");
}

// Nobody can have taken it up yet, so that the epoch is still the driver's own.
void Oracle::on_left_unwritten(const RunId& run) {
  left_unwritten_.emplace(run.text, storage_->epoch_of(run));
}

bool Oracle::has_left_unwritten(const RunId& run, std::uint64_t epoch) const {
  return left_unwritten_.contains({run.text, epoch});
}

void Oracle::check_inbox(const RunId& id, const Track& track, const std::string& when) {
  const auto rows = storage_->index().pending(id);
  for (const InboxRow& row : *rows) {
    if (row.row > track.rows_before_rest) return;
    const auto event = decode_event(row.body);
    // Others may be refused, and then go with the next record, if there is one; so may a message to
    // an instance that has ended.
    const auto* message = event ? std::get_if<MessageReceived>(&*event) : nullptr;
    const bool read = message != nullptr && has_reader(track.run.state(), *message);
    const bool control = event && (read || std::holds_alternative<CancelRequested>(*event));
    if (control) {
      fail("run " + id.text + " " + when + ", and left " + std::string(name(*event)) +
           " in its inbox");
    }
  }
}

void Oracle::take(Track& track, const RunId& own, const Record& record) {
  if (const auto* started = std::get_if<RunStarted>(&record.event)) {
    track.forked = started->forked_from;
  }
  check_prefix(track, record);
  // What models, tools and people said, they said to the run that a fork has it from.
  const RunId& id = lived_by(track, own, record.seq);
  take_usage(track, id, record);
  if (const auto* replied = std::get_if<ModelReplied>(&record.event)) {
    check_reply(track, id, *replied);
  }
  if (const auto* finished = std::get_if<ToolFinished>(&record.event)) {
    check_result(track, id, *finished);
  }
  if (const auto* message = std::get_if<MessageReceived>(&record.event)) {
    if (const std::string* text = message->text.bytes()) ++track.messages[*text];
  }
  const std::vector<Block>* blocks = nullptr;
  if (const auto* replied = std::get_if<ModelReplied>(&record.event)) blocks = &replied->blocks;
  if (const auto* pushed = std::get_if<ExternalTurnPushed>(&record.event)) blocks = &pushed->blocks;
  for (const Decision& decision : record.decisions) {
    if (std::holds_alternative<StepBegan>(decision)) {
      ++track.steps;
      ++steps_;
    }
    const CallOpened* opened = std::get_if<CallOpened>(&decision);
    if (opened == nullptr) continue;
    if (blocks == nullptr || opened->index >= blocks->size()) {
      return fail("a call is opened that nobody asked for");
    }
    const CallBlock* block = std::get_if<CallBlock>(&(*blocks)[opened->index]);
    if (block == nullptr) return fail("a call is opened from a block that is none");
    const bool fresh =
        track.inputs.emplace(opened->call, block->input.bytes() ? *block->input.bytes() : "")
            .second;
    if (!fresh) fail(to_string(opened->call) + " is opened twice");
    track.standings[opened->call].tool = block->tool;
  }
  take_permissions(track, id, record);
  for (const Effect& effect : record.effects) {
    std::visit(
        [&](const auto& one) {
          if constexpr (requires { one.effect; }) {
            if (!track.intents.emplace(one.effect, effect).second) {
              fail(to_string(one.effect) + " is asked for twice");
            }
          }
        },
        effect);
    if (std::holds_alternative<CallModel>(effect)) ++track.model_calls;
  }
  const Status folded = fold(track.run, record);
  if (!folded) return fail("it cannot be folded: " + folded.error().message);
  if (const std::string fault = fault_of(track.run); !fault.empty()) fail(fault);
  check_machine(track, record);
  check_limits(own, track);
  check_budget(own, track, record);
  if (track.forked && track.forked->seq == record.seq) check_inherited(track);
}

// The run is what the rules make of what it was told.
void Oracle::check_machine(Track& track, const Record& record) {
  std::string fault = track.tree.take(record);
  if (fault.empty()) fault = track.tree.compare(track.run.state());
  if (!fault.empty()) fail(fault);
}

void Oracle::check_reply(Track& track, const RunId& id, const ModelReplied& event) {
  if (event.origin != Origin::executor) return;
  const CallModel* call = intent<CallModel>(track, event.effect);
  if (call == nullptr) return fail("a reply to no model call");
  const auto found = replies_[id.text].find({call->step, call->attempt});
  if (found == replies_[id.text].end()) return fail("a reply that no model gave");
  const std::vector<WrittenBlock>& written = found->second;
  bool same = written.size() == event.blocks.size();
  for (std::size_t i = 0; same && i < written.size(); ++i) {
    const CallBlock* block = std::get_if<CallBlock>(&event.blocks[i]);
    const TextBlock* text = std::get_if<TextBlock>(&event.blocks[i]);
    const Content& content = block != nullptr ? block->input : text->text;
    same = (block != nullptr ? block->tool : "") == written[i].tool &&
           (content.bytes() != nullptr ? *content.bytes() == written[i].text
                                       : content.digest() == sha256(written[i].text));
  }
  if (!same) fail("the reply is not what the model wrote");
}

void Oracle::check_result(Track& track, const RunId& id, const ToolFinished& event) {
  if (event.origin != Origin::executor) return;
  const RunTool* run = intent<RunTool>(track, event.effect);
  if (run == nullptr || run->call != event.call) return fail("a result of no tool call");
  const auto found = outcomes_[id.text].find({static_cast<std::uint64_t>(run->call), run->attempt});
  if (found == outcomes_[id.text].end()) return fail("a result that no tool gave");
  const std::string& said = found->second.content;
  const bool same = event.content.bytes() != nullptr ? *event.content.bytes() == said
                                                     : event.content.digest() == sha256(said);
  if (!same) fail("the result is not what the tool answered first");
  if (event.end == ToolEnd::succeeded) track.results[event.call] = said;
}

// --- What is seen of it ------------------------------------------------------------------------

void Oracle::on_accepted(const RunId& run) {
  Track& track = tracks_[run.text];
  track.acceptance = Track::Acceptance::accepted;
  if (track.chains.empty()) fail("run " + run.text + " was accepted and is not durable");
}

void Oracle::on_published(const RecordView& view) {
  Track& track = tracks_[view.run.text];
  const std::uint64_t seq = view.record.seq;
  if (seq >= track.chains.size()) {
    return fail(text_of(view.run, seq) + " is shown before it is durable");
  }
  const Digest before = seq == 0 ? chain_origin(view.run) : track.chains[seq - 1];
  if (chain_after(before, encode_record(view.record)) != track.chains[seq]) {
    return fail(text_of(view.run, seq) + " is shown as something else than what was recorded");
  }
  track.published = std::max(track.published, seq + 1);
}

void Oracle::on_message_accepted(const RunId& run, const std::string& text) {
  accepted_messages_[run.text].insert(text);
}

// The books are made anew from what the disk kept; what anybody had seen must be among it.
void Oracle::on_power_loss() {
  const auto listed = storage_->index().list({"", "", "", SIZE_MAX});
  for (const RunSummary& run : *listed) tracks_[run.id.text];  // also those nobody was told of
  for (auto& [id, track] : tracks_) rebuild(id, track);        // rows may have other numbers now
}

void Oracle::rebuild(const std::string& id, Track& track) {
  Track fresh;
  fresh.performed = track.performed;
  fresh.published = track.published;
  fresh.keys = track.keys;
  fresh.standing = track.standing;
  fresh.acceptance = track.acceptance;
  fresh.chain = chain_origin(RunId{id});
  const auto records = storage_->index().read(RunId{id}, 0, SIZE_MAX);
  const std::uint64_t length = records ? records->size() : 0;
  if (track.acceptance == Track::Acceptance::accepted && length == 0) {
    return fail("run " + id + " was accepted, and a power loss lost it");
  }
  if (length < track.published) {
    return fail("run " + id + " had " + std::to_string(track.published) +
                " records that were shown; a power loss left " + std::to_string(length));
  }
  const std::uint64_t steps_before = steps_;
  for (std::uint64_t seq = 0; seq < length; ++seq) {
    const StoredRecord& stored = (*records)[seq];
    if (seq < track.chains.size() && stored.chain != track.chains[seq]) {
      return fail(text_of(RunId{id}, seq) + " is another one after a power loss");
    }
    const auto record = decode_record(stored.bytes);
    if (!record) return fail(text_of(RunId{id}, seq) + " cannot be decoded after a power loss");
    check_blobs(RunId{id}, *record);
    check_decision(fresh, *record, stored.bytes);
    take(fresh, RunId{id}, *record);
    fresh.chain = stored.chain;
    fresh.chains.push_back(stored.chain);
  }
  steps_ = steps_before;
  for (const EffectId effect : fresh.performed) {
    if (!fresh.intents.contains(effect)) {
      fail(to_string(effect) + " of run " + id + " was started; a power loss lost its intent");
    }
  }
  track = std::move(fresh);
}

void Oracle::check_blobs(const RunId& id, const Record& record) {
  for (const BlobRef& blob : blobs_of(record.event)) {
    if (storage_->index().blob(id, blob.digest)) continue;
    fail(text_of(id, record.seq) + " names a content that is not there");
  }
}

void Oracle::on_end() {
  for (auto& [id, track] : tracks_) {
    const auto records = storage_->index().read(RunId{id}, 0, SIZE_MAX);
    for (const StoredRecord& stored : records ? *records : std::vector<StoredRecord>{}) {
      const auto record = decode_record(stored.bytes);
      if (record) check_blobs(RunId{id}, *record);
    }
    for (const std::string& text : accepted_messages_[id]) {
      if (track.messages[text] > 1) fail("message '" + text + "' was received twice");
    }
  }
}

}  // namespace pawl::sim
