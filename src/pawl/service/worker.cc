#include "pawl/service/worker.h"

#include <algorithm>
#include <limits>

#include "pawl/service/housekeeping.h"

namespace pawl {
namespace {

constexpr std::size_t kTakenALookMax = 8;    // the others are for other workers, or the next look
constexpr std::int64_t kTryAgainMs = 1'000;  // doubled
constexpr std::int64_t kTryAgainMaxMs = 60'000;
constexpr std::size_t kTriedMax = 100'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::string_view name(Due due) {
  switch (due) {
    case Due::interrupted:
      return "interrupted";
    case Due::told:
      return "told";
    case Due::time:
      return "time";
  }
  return "";
}

Worker::Worker(Service& service, WorkerOptions options, Taken taken)
    : service_(service), options_(options), taken_(std::move(taken)) {}

Status Worker::look() {
  left_ = kTakenALookMax;
  found_ = false;
  if (state_ == State::stopping) return ok();
  PAWL_CHECK(look_for_told());
  PAWL_CHECK(look_for_interrupted(RunStatus::running));
  PAWL_CHECK(look_for_interrupted(RunStatus::queued));
  return look_for_time();
}

Status Worker::look_for_told() {
  PAWL_TRY(const std::vector<RunId> runs, service_.addressed());
  for (const RunId& run : runs) {
    const auto summary = service_.summary_of(run);
    if (!summary || is_over(*summary)) continue;
    PAWL_TRY(const bool more, consider(*summary, Due::told));
    if (!more) return ok();
  }
  return ok();
}

Status Worker::look_for_interrupted(RunStatus status) {
  ListQuery query;
  query.status = name(status);
  return service_.for_each(query, [this](const RunSummary& run) -> Result<bool> {
    return consider(run, Due::interrupted);
  });
}

Status Worker::look_for_time() {
  ListQuery query;
  query.status = name(RunStatus::waiting);
  std::map<RunId, Wake> still;
  const std::int64_t now_ms = service_.wall_ms();
  const Status looked = service_.for_each(query, [&](const RunSummary& run) -> Result<bool> {
    PAWL_TRY(const std::int64_t at_ms, due_at(run));
    still[run.id] = {run.length, at_ms};
    return at_ms > now_ms ? true : consider(run, Due::time);
  });
  // Of runs that a look did not come to, it is looked up again.
  wakes_ = std::move(still);
  return looked;
}

// A journal is read once for each time that it has grown.
Result<std::int64_t> Worker::due_at(const RunSummary& run) {
  const auto known = wakes_.find(run.id);
  if (known != wakes_.end() && known->second.length == run.length) return known->second.at_ms;
  const auto details = service_.show(run.id);
  if (!details) return kNever;  // Damaged: somebody has to look at it first.
  return wake_wall_at(details->state).value_or(kNever);
}

bool Worker::may_try(const RunSummary& run) {
  const std::int64_t now_ms = service_.wall_ms();
  const auto found = tried_.find(run.id);
  if (found == tried_.end()) return true;
  if (found->second.length == run.length) return now_ms >= found->second.again_at_ms;
  tried_.erase(found);  // It has got further.
  return true;
}

Result<bool> Worker::consider(const RunSummary& run, Due due) {
  if (mine_.contains(run.id) || service_.live(run.id) != nullptr) return true;
  PAWL_TRY(const bool driven, service_.is_driven(run.id));
  if (driven || !may_try(run)) return true;
  found_ = true;
  if (left_ == 0 || mine_.size() >= options_.live_max) return false;
  --left_;
  if (tried_.size() >= kTriedMax) tried_.clear();
  Tried& tried = tried_[run.id];
  tried.length = run.length;
  tried.delay_ms = std::clamp(2 * tried.delay_ms, kTryAgainMs, kTryAgainMaxMs);
  tried.again_at_ms = service_.wall_ms() + tried.delay_ms;
  mine_.insert(run.id);
  const Status taken = service_.take_up(run.id);
  if (!taken) mine_.erase(run.id);
  // Another process was faster.
  if (taken || taken.error().code != ErrorCode::conflict) taken_(run.id, due, taken);
  return true;
}

void Worker::on_ended(const RunId& run, const Status& status) {
  if (mine_.erase(run) == 0 || state_ == State::looking) return;
  const auto now = status ? service_.summary_of(run) : Result<RunSummary>(status.error());
  const bool parked = now && now->status == name(RunStatus::waiting) &&
                      now->reason == name(WaitFor::paused) && parking_.contains(run);
  if (!parked) return tell_stopped();
  ++telling_;
  service_.post(run, ResumeRequested{stopped_by_}, [this](const Status&) {
    --telling_;
    tell_stopped();
  });
}

void Worker::tell_stopped() {
  if (mine_.empty() && telling_ == 0 && stopped_) std::exchange(stopped_, {})();
}

void Worker::stop(const std::string& by, std::function<void()> done) {
  state_ = State::stopping;
  stopped_by_ = by;
  stopped_ = std::move(done);
  for (const RunId& run : std::set<RunId>(mine_)) {
    const Run* live = service_.live(run);
    const bool paused = live != nullptr && std::holds_alternative<Pausing>((*live)->course);
    // What a person has paused stays so. One that is about to end does not take it.
    if (!paused && service_.feed(run, PauseRequested{by})) parking_.insert(run);
  }
  tell_stopped();
}

}  // namespace pawl
