#include "pawl/run/driven_run.h"

#include <algorithm>

#include "pawl/base/recycled.h"
#include "pawl/filter/secrets/event_filter.h"

namespace pawl {
namespace {

ConversationMemory& memory_of(DriverServices& services) {
  if (!services.memory) services.memory = std::make_shared<ConversationMemory>();
  return *services.memory;
}

}  // namespace

DrivenRun::DrivenRun(DriverServices services, DriverSetup setup, Owner& owner)
    : services_(std::move(services)),
      setup_(std::move(setup)),
      owner_(owner),
      loaded_(setup_.loaded),
      id_(loaded_.run->id),
      monotonic_base_ms_(services_.loop.monotonic_ms()),
      elapsed_base_ms_(loaded_.run->elapsed_ms),
      appender_({*services_.store.journal, services_.loop, setup_.lease.epoch,
                 services_.snapshot_bytes_min},
                loaded_, owner),
      conversations_(loaded_, *services_.store.reader, memory_of(services_)),
      timers_(*this) {
  if (loaded_.run->length == 0) return;
  // A store counts the drivers of an imported run anew; the run's own count must not fall.
  const std::uint64_t recorded = loaded_.run->epoch;
  if (recorded > setup_.lease.epoch) epochs_before_ = recorded - setup_.lease.epoch + 1;
}

Stamp DrivenRun::now() const {
  const std::int64_t passed = services_.loop.monotonic_ms() - monotonic_base_ms_;
  Stamp stamp;
  stamp.epoch = setup_.lease.epoch + epochs_before_;
  stamp.at_ms = services_.loop.wall_ms();
  stamp.elapsed_ms =
      std::max(loaded_.run->elapsed_ms,
               elapsed_base_ms_ + static_cast<std::uint64_t>(std::max<std::int64_t>(passed, 0)));
  return stamp;
}

const NodeParts* DrivenRun::parts_of(InstanceId id) const {
  const Instance* instance = find_instance(state(), id);
  if (instance == nullptr || setup_.nodes.empty()) return nullptr;
  const auto found = setup_.nodes.find(instance->node);
  return found == setup_.nodes.end() ? nullptr : &found->second;
}

std::size_t DrivenRun::words_max(InstanceId id) const {
  const Instance* instance = find_instance(state(), id);
  return instance != nullptr && instance->seat ? kFlowOutputBytesMax : kInlineBytesMax;
}

std::string DrivenRun::definition_for(InstanceId id, const std::string& tool) const {
  const Instance* instance = find_instance(state(), id);
  const PinnedTool* pinned =
      instance == nullptr ? nullptr : tool_in_scope(state(), *instance, tool);
  return pinned == nullptr ? tool : definition_key(tool, pinned->scope, pinned->owner);
}

bool DrivenRun::is_open(EffectId effect) const {
  return !over_ && find_effect(state(), effect) != nullptr;
}

Status DrivenRun::feed(Event event, std::vector<StoredBlob> blobs, Filtered filtered) {
  PAWL_CHECK(take(std::move(event), std::move(blobs), filtered));
  return settle();
}

Status DrivenRun::take(Event&& event, std::vector<StoredBlob>&& blobs, Filtered filtered) {
  if (over_) return Error{ErrorCode::conflict, "run " + id_.text + " is no longer driven here"};
  if (services_.filter && filtered == Filtered::no) {
    filter_event(*services_.filter, Passage::first, event, blobs);
  }
  // Decided where it is kept: a record is large to move about, and to find memory for.
  auto view = make_recycled<RecordView>(std::move(event), now());
  PAWL_CHECK(advance(loaded_.run, view->record));
  note_state(*view, state());
  if (setup_.context) setup_.context->update_tally(loaded_.run->tally);
  conversations_.note(view, blobs);
  appender_.append(id_, std::move(view), std::move(blobs));
  timers_.watch_ending();
  return ok();
}

Status DrivenRun::settle() {
  if (wants_park(state())) return feed(RunWaiting{suspended_in(state())});
  timers_.arm();
  return ok();
}

Result<std::shared_ptr<const Record>> DrivenRun::opening_record(std::uint64_t seq) const {
  if (opening_ == nullptr || opening_->seq != seq) {
    PAWL_TRY(Record record, read_record(reader(), id_, seq));
    opening_ = std::make_shared<const Record>(std::move(record));
  }
  return opening_;
}

void DrivenRun::name_new_run(const RunId& id) {
  id_ = id;
  loaded_.chain = chain_origin(id);
}

void DrivenRun::go_back_to(LoadedRun before) {
  loaded_ = std::move(before);
  appender_.on_reloaded();
  conversations_.forget();
  opening_.reset();
}

void DrivenRun::release() {
  if (setup_.agent.release) setup_.agent.release(id_);
  setup_.lease.hold.reset();
}

void DrivenRun::publish(const RunEvent& event) const {
  if (!services_.publish) return;
  try {
    services_.publish(event);
  } catch (...) {  // A watcher's bug is not the run's.
  }
}

void DrivenRun::log(std::string text) const {
  if (services_.filter) text = services_.filter->sink(std::move(text));
  publish(RunLogLine{id_, std::move(text)});
}

std::string DrivenRun::filtered(std::string text) const {
  return services_.filter ? services_.filter->ingress(std::move(text)) : text;
}

void DrivenRun::end(const Status& status) {
  if (over_) return;
  over_ = true;
  timers_.cancel();
  owner_.on_end(status);
}

void DrivenRun::end_unreadable(const Error& error) {
  end(Error{error.code, "run " + id_.text + " cannot be driven on: " + error.message});
}

// --- Timers -------------------------------------------------------------------------------------

void RunTimers::arm() {
  const auto due = run_.is_over() ? std::nullopt : wake_at(run_.state());
  if (due == due_) return;
  due_ = due;
  wake_.reset();
  if (!due) return;
  const std::uint64_t elapsed = run_.now().elapsed_ms;
  const std::uint64_t wait = *due > elapsed ? *due - elapsed : 0;
  wake_ = run_.services().loop.after(static_cast<std::int64_t>(wait), [weak = run_.weak(*this)] {
    if (const auto self = weak.lock()) self->on_wake();
  });
}

void RunTimers::on_wake() {
  if (run_.is_over()) return;
  due_.reset();
  // Refused when nothing is due yet: clocks round. The next arming waits for the rest.
  if (!run_.feed(TimerFired{})) arm();
}

// What a run's end asks for is done when it is written. A store that cannot write would hold tools,
// and the process, for as long as the disk is full.
void RunTimers::watch_ending() {
  const RunState& state = run_.state();
  const bool ending =
      std::holds_alternative<Finished>(state.life) || std::holds_alternative<Ending>(state.course);
  if (run_.is_over() || ending_ || !ending) return;
  ending_ = run_.services().loop.after(
      kUnwrittenEndMs, [weak = run_.weak(*this), length = run_.appender().durable_length()] {
        if (const auto self = weak.lock()) self->on_ending_unwritten(length);
      });
}

void RunTimers::on_ending_unwritten(std::uint64_t durable_length) {
  if (run_.is_over()) return;
  ending_.reset();
  const RecordAppender& appender = run_.appender();
  if (appender.in_flight() == 0 || appender.durable_length() != durable_length) {
    return watch_ending();
  }
  const std::string& id = run_.id().text;
  run_.end(Error{ErrorCode::unavailable,
                 "run " + id + " " + kUnwrittenEnd +
                     " (is the disk full?): its tools are stopped; make room, then pawl resume " +
                     id + " goes on from what is written"});
}

void RunTimers::cancel() {
  wake_.reset();
  ending_.reset();
}

}  // namespace pawl
