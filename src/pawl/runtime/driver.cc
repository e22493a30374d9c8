#include "pawl/runtime/driver.h"

#include "pawl/runtime/secret_filter/event_filter.h"

#include <algorithm>

#include "pawl/base/recycled.h"
#include "pawl/kernel/codec.h"
#include "pawl/port/journal_checks.h"
#include "pawl/runtime/run_summary.h"
#include "pawl/runtime/thrown.h"

namespace pawl {
namespace {

constexpr std::uint64_t kSnapshotGrowth = 4;
// A larger state is loaded from its records instead: stores cannot be asked to hold any size.
constexpr std::size_t kSnapshotStateMax = 256U << 20U;

}  // namespace

Driver::Driver(DriverServices services, DriverSetup setup, Ended ended)
    : services_(std::move(services)),
      setup_(std::move(setup)),
      loaded_(setup_.loaded),
      id_(loaded_.run->id),
      ended_(std::move(ended)),
      monotonic_base_ms_(services_.loop.monotonic_ms()),
      elapsed_base_ms_(loaded_.run->elapsed_ms) {
  if (loaded_.run->length > 0) {
    // A store counts the drivers of an imported run anew; the run's own count must not fall.
    const std::uint64_t recorded = loaded_.run->epoch;
    if (recorded > setup_.drive.epoch) epochs_before_ = recorded - setup_.drive.epoch + 1;
    durable_length_ = loaded_.run->length;
    note_summary();
  }
}

void Driver::note_summary() {
  summary_status_ = name(status_of(loaded_.run.state()));
  summary_reason_ = summary_reason(loaded_.run.state());
}

Driver::~Driver() {
  stops_.for_each([](auto& stop) { *stop = true; });
}

Stamp Driver::now() const {
  const std::int64_t passed = services_.loop.monotonic_ms() - monotonic_base_ms_;
  Stamp stamp;
  stamp.epoch = setup_.drive.epoch + epochs_before_;
  stamp.at_ms = services_.loop.wall_ms();
  stamp.elapsed_ms =
      std::max(loaded_.run->elapsed_ms,
               elapsed_base_ms_ + static_cast<std::uint64_t>(std::max<std::int64_t>(passed, 0)));
  return stamp;
}

void Driver::begin(RunStarted event, std::vector<StoredBlob> blobs, StatusCallback accepted) {
  id_ = event.run;
  loaded_.chain = chain_origin(id_);
  accepted_ = std::move(accepted);
  const Status fed = feed(std::move(event), std::move(blobs));
  if (fed || !accepted_) return;
  services_.loop.post([accepted = std::move(accepted_), fed] { accepted(fed); });
}

void Driver::go_on(const Record& last) {
  for (const Effect& effect : last.effects) {
    if (over_) return;
    std::visit([&](const auto& one) { perform(last, one); }, effect);
  }
  if (over_) return;
  if (const Status settled = settle(); !settled) return end(settled);
  take_inbox();
}

// The inbox is read before the run may be parked again: what is refused leaves it with that record.
void Driver::attach(const std::string& by) {
  if (const Status taken = take(DriverAttached{by}, {}); !taken) return end(taken);
  take_inbox();
  if (const Status settled = settle(); !settled) end(settled);
}

Status Driver::feed(Event event, std::vector<StoredBlob> blobs, Filtered filtered) {
  PAWL_CHECK(take(std::move(event), std::move(blobs), filtered));
  return settle();
}

Status Driver::take(Event&& event, std::vector<StoredBlob>&& blobs, Filtered filtered) {
  if (over_) return Error{ErrorCode::conflict, "run " + id_.text + " is no longer driven here"};
  if (services_.filter && filtered == Filtered::no) {
    filter_event(*services_.filter, Passage::first, event, blobs);
  }
  // Decided where it is kept: a record is large to move about, and to find memory for.
  auto view = make_recycled<RecordView>(std::move(event), now());
  PAWL_CHECK(advance(loaded_.run, view->record));
  note_state(*view, loaded_.run.state());
  if (setup_.context) setup_.context->update_tally(loaded_.run->tally);
  append(std::move(view), std::move(blobs));
  watch_ending();
  return ok();
}

Status Driver::settle() {
  if (wants_park(loaded_.run.state())) return feed(RunWaiting{});
  arm_timer();
  return ok();
}

std::optional<RunSummary> Driver::changed_summary() {
  const RunState& state = loaded_.run.state();
  if (name(status_of(state)) == summary_status_ && summary_reason(state) == summary_reason_) {
    return std::nullopt;
  }
  RunSummary summary = summary_of(state);
  summary_status_ = summary.status;
  summary_reason_ = summary.reason;
  return summary;
}

std::optional<StoredSnapshot> Driver::due_snapshot() {
  const auto taken = [this](StoredSnapshot snapshot) -> std::optional<StoredSnapshot> {
    loaded_.snapshot_bytes = snapshot.state.size();
    if (snapshot.state.size() > kSnapshotStateMax) return std::nullopt;
    return snapshot;
  };
  if (snapshot_) {
    if (snapshot_->encoded != SnapshotUnderWay::Encoded::whole) return std::nullopt;
    const auto ready = std::exchange(snapshot_, nullptr);
    return taken({ready->seq, ready->chain, ready->encoder.take()});
  }
  const std::uint64_t due =
      std::max(services_.snapshot_bytes_min, kSnapshotGrowth * loaded_.snapshot_bytes);
  if (loaded_.bytes_since_snapshot < due) return std::nullopt;
  loaded_.bytes_since_snapshot = 0;
  const std::uint64_t seq = loaded_.run->length - 1;
  if (snapshot_entries(loaded_.run.state()) <= kSnapshotSliceEntries) {
    return taken({seq, loaded_.chain, encode_snapshot(loaded_.run)});
  }
  snapshot_ = std::make_shared<SnapshotUnderWay>(
      SnapshotUnderWay{seq, loaded_.chain, SnapshotEncoder(loaded_.run)});
  encode_more(snapshot_);
  return std::nullopt;
}

void Driver::encode_more(const std::shared_ptr<SnapshotUnderWay>& snapshot) {
  services_.loop.post([weak = weak_from_this(), snapshot] {
    const auto self = weak.lock();
    if (!self || self->over_ || self->snapshot_ != snapshot) return;
    if (!snapshot->encoder.encode(kSnapshotSliceEntries)) return self->encode_more(snapshot);
    snapshot->encoded = SnapshotUnderWay::Encoded::whole;
  });
}

void Driver::append(std::shared_ptr<const RecordView> view, std::vector<StoredBlob> blobs) {
  Append append;
  append.run = id_;
  append.epoch = setup_.drive.epoch;
  append.seq = view->record.seq;
  append.bytes = encode_record(view->record);
  append.chain = chain_after(loaded_.chain, append.bytes);
  append.blobs = std::move(blobs);
  append.inbox_taken = std::exchange(inbox_to_remove_, {});
  append.summary = changed_summary();
  loaded_.chain = append.chain;
  loaded_.bytes_since_snapshot += append.bytes.size();
  const bool finished = std::holds_alternative<Finished>(loaded_.run->life);
  if (finished) append.snapshots = Append::Snapshots::drop;
  if (!finished) append.snapshot = due_snapshot();
  ++appends_open_;
  const Status given = guarded("the store", [&] {
    services_.store.journal->append(
        std::move(append), [weak = weak_from_this(), view = std::move(view)](const Status& status) {
          if (const auto self = weak.lock()) self->on_appended(view, status);
        });
    return ok();
  });
  if (!given) leave_store(given);
}

// A store of the host's that threw: what becomes of the record nobody knows, and should it still
// tell, this driver is over by then.
void Driver::leave_store(const Status& thrown) {
  services_.loop.post([weak = weak_from_this(), thrown] {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    if (self->accepted_) std::exchange(self->accepted_, {})(thrown);
    self->end(thrown);
  });
}

void Driver::on_appended(const std::shared_ptr<const RecordView>& view, const Status& status) {
  if (view->record.seq < durable_length_) return;  // a store of the host's that answers again
  --appends_open_;
  if (status) retired_.clear();  // A store that fails may say so from inside whatever fed it.
  if (over_) return;
  const bool first = view->record.seq == 0;
  if (first && accepted_) std::exchange(accepted_, {})(status);
  const auto* finished = std::get_if<RunFinished>(&view->record.event);
  if (!status && finished != nullptr && waits_in_inbox(status.error())) {
    return take_back_end(view->record, finished->effect);
  }
  if (!status) return end(status);
  durable_length_ = view->record.seq + 1;
  publish(for_the_stream(view));
  for (const Effect& effect : view->record.effects) {
    if (over_) return;
    std::visit([&](const auto& one) { perform(view->record, one); }, effect);
  }
  if (finished != nullptr) return end(ok());
  if (std::holds_alternative<RunWaiting>(view->record.event) && appends_open_ == 0) {
    take_inbox();
    // What came in meanwhile is being appended: the run is let go when that is durable.
    if (appends_open_ == 0 && loaded_.run->parked == Parked::yes) end(ok());
  }
  drop_refused();
}

void Driver::publish(const RunEvent& event) {
  if (!services_.publish) return;
  try {
    services_.publish(event);
  } catch (...) {  // A watcher's bug is not the run's.
  }
}

void Driver::log(std::string text) {
  if (services_.filter) text = services_.filter->sink(std::move(text));
  publish(RunLogLine{id_, std::move(text)});
}

void Driver::arm_timer() {
  const auto due = over_ ? std::nullopt : wake_at(loaded_.run.state());
  if (due == timer_due_) return;
  timer_due_ = due;
  timer_.reset();
  if (!due) return;
  const std::uint64_t elapsed = now().elapsed_ms;
  const std::uint64_t wait = *due > elapsed ? *due - elapsed : 0;
  timer_ = services_.loop.after(static_cast<std::int64_t>(wait), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    self->timer_due_.reset();
    // Refused when nothing is due yet: clocks round. The next arming waits for the rest.
    if (!self->feed(TimerFired{})) self->arm_timer();
  });
}

// What a run's end asks for is done when it is written. A store that cannot write would hold tools,
// and the process, for as long as the disk is full.
void Driver::watch_ending() {
  const RunState& state = loaded_.run.state();
  const bool ending =
      std::holds_alternative<Finished>(state.life) || std::holds_alternative<Ending>(state.course);
  if (over_ || ending_timer_ || !ending) return;
  const auto look = [weak = weak_from_this(), length = durable_length_] {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    self->ending_timer_.reset();
    if (self->appends_open_ == 0 || self->durable_length_ != length) return self->watch_ending();
    self->end(
        Error{ErrorCode::unavailable,
              "run " + self->id_.text + " " + kUnwrittenEnd +
                  " (is the disk full?): its tools are stopped; make room, then pawl resume " +
                  self->id_.text + " goes on from what is written"});
  };
  ending_timer_ = services_.loop.after(kUnwrittenEndMs, look);
}

void Driver::end(Status status) {
  if (over_) return;
  over_ = true;
  timer_.reset();
  ending_timer_.reset();
  stops_.for_each([](auto& stop) { *stop = true; });
  operations_.clear();
  replies_.clear();
  // Only after this call has unwound may the owner destroy the driver.
  services_.loop.post([self = shared_from_this(), status] {
    self->retired_.clear();
    if (self->setup_.agent.release) self->setup_.agent.release(self->id_);
    self->setup_.drive.hold.reset();
    if (self->ended_) std::exchange(self->ended_, {})(status);
  });
}

}  // namespace pawl
