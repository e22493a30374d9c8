#include "pawl/runtime/driver_timers.h"

#include "pawl/runtime/driven_run.h"

namespace pawl {

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
