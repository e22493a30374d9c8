#include "pawl/surface/cli/paced_view.h"

#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::int64_t kReaderPollMs = 100;
constexpr std::size_t kRecordsATurnMax = 256;  // other work of the loop comes between

}  // namespace

PacedView::PacedView(const CliContext& context, Workspace& workspace, RunView& shown)
    : context_(context), workspace_(workspace), shown_(shown) {
  context_.console().pace([this, &loop = workspace_.loop(), weak = std::weak_ptr(alive_)] {
    loop.post([this, weak] {
      if (!weak.expired()) catch_up();
    });
  });
}

PacedView::~PacedView() {
  context_.console().pace({});
}

void PacedView::on_event(const RunEvent& event) {
  const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
  if (view == nullptr) {
    const bool dropped = std::holds_alternative<Preview>(event) && state_ != State::live;
    if (!dropped && has_room()) shown_.on_event(event);
    return;
  }
  if (length_ == 0) run_ = (*view)->run;
  length_ = (*view)->record.seq + 1;
  if (state_ != State::live) return;
  next_ = (*view)->record.seq;
  if (has_room()) return show(*view);
  state_ = State::behind;
}

bool PacedView::has_room() const {
  return context_.console().backlog(Stream::out).pending() < kOutputPendingMax;
}

void PacedView::show(const std::shared_ptr<const RecordView>& view) {
  const std::uint64_t before = context_.console().backlog(Stream::out).queued;
  shown_.on_event(view);
  const Backlog after = context_.console().backlog(Stream::out);
  if (after.queued > before) unwritten_.push_back({view->record.seq, after.queued});
  while (!unwritten_.empty() && unwritten_.front().end <= after.written) unwritten_.pop_front();
  next_ = view->record.seq + 1;
}

void PacedView::catch_up() {
  if (state_ != State::behind || !has_room()) return;
  read_some();
  if (state_ != State::behind) return;
  if (next_ == length_) {
    state_ = State::live;
    return;
  }
  if (!has_room()) return;  // The console calls again.
  workspace_.loop().post([this, weak = std::weak_ptr(alive_)] {
    if (!weak.expired()) catch_up();
  });
}

void PacedView::read_some() {
  if (walker_ == nullptr) walker_ = workspace_.service().walk(run_);
  for (std::size_t i = 0; i < kRecordsATurnMax && next_ < length_ && has_room(); ++i) {
    auto record = walker_->next();
    if (!record || !*record) {
      state_ = State::broken;
      const std::string why =
          record ? "its journal is shorter than it was" : record.error().message;
      return print_stderr(context_, "run " + run_.text + " is not shown any longer: " + why);
    }
    if ((*record)->seq < next_) continue;
    const RunState& state = walker_->loaded().run.state();
    show(std::make_shared<const RecordView>(view_of(**std::move(record), state)));
  }
}

bool PacedView::wait_for_reader(const std::function<bool()>& done,
                                const std::function<bool()>& hurried) {
  MainLoop& loop = workspace_.loop();
  Backlog seen = context_.console().backlog(Stream::out);
  std::int64_t since_ms = loop.monotonic_ms();
  std::unique_ptr<Timer> timer;
  std::function<void()> tick = [&] { timer = loop.after(kReaderPollMs, tick); };
  tick();
  const auto is_over = [&] {
    const Backlog now = context_.console().backlog(Stream::out);
    if (now != seen) since_ms = loop.monotonic_ms();
    seen = now;
    return done() || hurried() || loop.monotonic_ms() - since_ms >= kReaderGraceMs;
  };
  if (!is_over()) loop.run_until(is_over);
  return done();
}

void PacedView::finish(const RecordView* last, const std::function<bool()>& hurried) {
  const auto shown = [this] { return state_ != State::behind; };
  const auto written = [this] { return context_.console().backlog(Stream::out).pending() == 0; };
  const bool caught_up = wait_for_reader(shown, hurried) && state_ == State::live;
  shown_.finish(caught_up ? last : nullptr);
  if (!caught_up && last != nullptr) {
    context_.console().write(Stream::err, describe_end(context_, workspace_.service(), *last));
  }
  const bool told = caught_up && wait_for_reader(written, hurried);
  if (!told && length_ > 0) tell_rest();
}

std::uint64_t PacedView::first_unwritten() const {
  const std::uint64_t written = context_.console().backlog(Stream::out).written;
  for (const Shown& one : unwritten_) {
    if (one.end > written) return one.seq;
  }
  return next_ < length_ ? next_ : length_ - 1;
}

void PacedView::tell_rest() {
  const std::string rest =
      "pawl logs " + run_.text + " --from " + std::to_string(first_unwritten());
  context_.console().abandon(Stream::out);
  print_stderr(context_, with_data_flag(context_,
                                        "standard output was not read to its end; see the "
                                        "rest with: " +
                                            rest));
}

}  // namespace pawl
