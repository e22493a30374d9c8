#include "pawl/surface/cli/drive.h"

#include <csignal>

namespace pawl {

DriveSession::DriveSession(const CliContext& context, Workspace& workspace, RunView* view)
    : context_(context), workspace_(workspace), view_(view) {
  if (view != nullptr) paced_ = std::make_unique<PacedView>(context_, workspace_, *view);
  Service& service = workspace_.service();
  service.on_ended([this](const RunId& run, const Status& status) {
    if (run != run_) return;
    // It goes on by itself, here, unless somebody is in a hurry.
    const bool goes_on = status && workspace_.service().wakes(run_) && interrupts_ == 0;
    if (goes_on && view_ != nullptr) {
      view_->note("pawl: the provider asked for a pause; the run goes on when it is over");
    }
    if (!goes_on) ended_ = status;
  });
  subscription_ = service.subscribe([this](const RunEvent& event) { on_event(event); });
  signals_ = workspace_.loop().on_signals({SIGINT, SIGTERM, SIGHUP},
                                          [this](int number) { on_signal(number); });
}

DriveSession::~DriveSession() {
  workspace_.service().on_ended({});
}

void DriveSession::on_event(const RunEvent& event) {
  if (const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event)) {
    if ((*view)->run != run_) return;
    last_ = *view;
  } else if (const Preview* preview = std::get_if<Preview>(&event)) {
    if (preview->run != run_) return;
  } else if (const RunLogLine* line = std::get_if<RunLogLine>(&event)) {
    log(context_, LogLevel::debug, line->run.text + ": " + line->text);
  }
  if (paced_) paced_->on_event(event);
}

void DriveSession::on_signal(int number) {
  if (ended_) {  // Only the reader is waited for.
    leaving_ = Leaving::yes;
    return;
  }
  if (number == SIGINT) {
    ++interrupts_;
    if (interrupts_ == 1) return park("parking once what is under way has ended; Ctrl-C cancels");
    if (interrupts_ == 2) return cancel();
    leaving_ = Leaving::yes;  // Somebody is in a hurry. The journal is as after a crash.
    return;
  }
  if (grace_) return;
  park("asked to end: parking");
  grace_ = workspace_.loop().after(kTerminationGraceMs, [this] { leaving_ = Leaving::yes; });
}

void DriveSession::park(const std::string& note) {
  if (view_ != nullptr) view_->note("pawl: " + note);
  const std::string by = context_.environment.user();
  const bool waits = workspace_.service().wakes(run_);
  const Status fed = workspace_.service().feed(run_, PauseRequested{by});
  if (!fed && waits) ended_ = ok();  // It is parked already.
  if (!fed) log(context_, LogLevel::info, fed.error().message);
}

void DriveSession::cancel() {
  if (view_ != nullptr) view_->note("pawl: cancelling; Ctrl-C leaves at once");
  const std::string by = context_.environment.user();
  const Status fed = workspace_.service().feed(run_, CancelRequested{by, "interrupted"});
  if (!fed) log(context_, LogLevel::info, fed.error().message);
}

int DriveSession::start(StartRequest request, std::function<void(const Status&)> accepted) {
  run_ = *request.id;
  stored_ = Stored::not_yet;
  workspace_.service().start(std::move(request), [this, accepted](const Result<RunId>& id) {
    stored_ = Stored::yes;
    if (!id) ended_ = Status(id.error());
    if (accepted) accepted(id ? ok() : Status(id.error()));
  });
  return wait();
}

int DriveSession::fork(ForkRequest request, std::function<void(const Result<Forked>&)> accepted) {
  run_ = *request.id;
  stored_ = Stored::not_yet;
  workspace_.service().fork(std::move(request), [this, accepted](const Result<Forked>& forked) {
    stored_ = Stored::yes;
    if (!forked) ended_ = Status(forked.error());
    if (accepted) accepted(forked);
  });
  return wait();
}

int DriveSession::carry_on(const RunId& run, const std::function<Status()>& begin) {
  run_ = run;
  if (const Status begun = begin(); !begun) return fail(context_, begun.error());
  return wait();
}

int DriveSession::wait() {
  workspace_.loop().run_until([this] { return ended_ || leaving_ == Leaving::yes; });
  // Runs beneath it that go on, or are to be cancelled, are driven here as well.
  if (ended_ && *ended_) {
    workspace_.loop().run_until(
        [this] { return workspace_.service().is_idle() || leaving_ == Leaving::yes; });
  }
  subscription_.reset();
  const bool known = ended_.has_value();
  if (paced_) {
    paced_->finish(known && *ended_ ? last_.get() : nullptr,
                   [this] { return leaving_ == Leaving::yes; });
  }
  signals_.reset();
  if (!known) {
    const std::string left =
        stored_ == Stored::yes
            ? "left while the run was under way; go on with: pawl resume " + run_.text
            : "left before the run was stored: nothing of it was done, and it is to be started "
              "again unless `pawl ls` lists " +
                  run_.text;
    print_stderr(context_, with_data_flag(context_, left));
    return kExitError;
  }
  if (!*ended_) return fail(context_, ended_->error());
  return last_ ? exit_code_of(last_->status) : kExitError;
}

}  // namespace pawl
