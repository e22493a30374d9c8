#include "pawl/run/driver.h"

#include <utility>

#include "pawl/port/journal_checks.h"
#include "pawl/run/command_events.h"
#include "pawl/run/driver_processors.h"

namespace pawl {

Driver::Driver(DriverServices services, DriverSetup setup, Ended ended)
    : ended_(std::move(ended)),
      run_(std::move(services), std::move(setup), *this),
      callbacks_(run_, operations_),
      judge_(run_, operations_),
      model_calls_(run_, operations_, callbacks_, judge_),
      tool_calls_(run_, operations_, callbacks_, judge_),
      inbox_(run_, judge_) {}

void Driver::begin(RunStarted event, std::vector<StoredBlob> blobs, StatusCallback accepted) {
  run_.name_new_run(event.run);
  accepted_ = std::move(accepted);
  const Status fed = run_.feed(std::move(event), std::move(blobs), DrivenRun::Filtered::yes);
  if (fed || !accepted_) return;
  run_.services().loop.post([accepted = std::move(accepted_), fed] { accepted(fed); });
}

Status Driver::feed(Event event, std::vector<StoredBlob> blobs) {
  // What people say passes the input processors, whatever it answers.
  if (auto* resumed = std::get_if<InstanceResumed>(&event)) {
    PAWL_CHECK(process_message(run_, resumed->message, blobs));
  }
  if (auto* command = std::get_if<CommandGiven>(&event)) {
    PAWL_CHECK(prepare_command(run_, CommandDrive::driven, *command));
  }
  return run_.feed(std::move(event), std::move(blobs));
}

Status Driver::whisper(std::optional<InstanceId> instance, std::string text) {
  const InstanceId id = instance.value_or(default_target(run_.state()));
  const Instance* found = find_instance(run_.state(), id);
  if (found == nullptr || !is_live(*found)) {
    return Error{ErrorCode::not_found,
                 "run " + run_.id().text + " has no instance " + to_string(id)};
  }
  Content content(run_.filtered(std::move(text)));
  PAWL_CHECK(process_message(run_, content));
  return model_calls_.whisper(id, *content.bytes());
}

void Driver::go_on(const Record& last) {
  perform_effects(last);
  if (run_.is_over()) return;
  if (const Status settled = run_.settle(); !settled) return run_.end(settled);
  inbox_.take();
}

// The inbox is read before the run may be parked again: refused rows are deleted with that record.
void Driver::attach(const std::string& by, EffectId unstarted_from) {
  const Status taken = run_.take(DriverAttached{by, unstarted_from}, {});
  if (!taken) return run_.end(taken);
  inbox_.take();
  if (const Status settled = run_.settle(); !settled) run_.end(settled);
}

Status Driver::decide(std::optional<CommandGiven> command) {
  mode_ = CommandDrive::undriven;
  inbox_.take_commands();
  Status said = ok();
  if (command) {
    said = prepare_command(run_, mode_, *command);
    if (said) said = run_.feed(*std::move(command));
  }
  let_go_when_durable();
  return said;
}

void Driver::let_go_when_durable() {
  if (!run_.is_over() && run_.appender().in_flight() == 0) run_.end(ok());
}

Status Driver::reopen(Event event, std::vector<StoredBlob> blobs) {
  Status taken = ok();
  if (auto* reopened = std::get_if<RunReopened>(&event)) {
    taken = process_message(run_, reopened->message, blobs);
  }
  if (taken) taken = run_.take(std::move(event), std::move(blobs));
  if (taken) taken = run_.settle();
  if (!taken) run_.end(taken);
  return taken;
}

void Driver::on_appended(const std::shared_ptr<const RecordView>& view, const Status& status) {
  if (status) operations_.drop_retired();  // A failing store may say so inside a callback.
  if (run_.is_over()) return;
  if (view->record.seq == 0 && accepted_) std::exchange(accepted_, {})(status);
  if (status) {
    run_.publish(process_for_stream(run_, view));
    return on_durable(*view);
  }
  const auto* finished = std::get_if<RunFinished>(&view->record.event);
  if (finished == nullptr || !waits_in_inbox(status.error())) return run_.end(status);
  if (inbox_.take_back_end(view->record)) perform(view->record, EndAgent{finished->effect});
}

void Driver::on_durable(const RecordView& view) {
  if (mode_ == CommandDrive::undriven) return let_go_when_durable();
  perform_effects(view.record);
  if (run_.is_over()) return;
  if (std::holds_alternative<RunFinished>(view.record.event)) return run_.end(ok());
  const RecordAppender& appender = run_.appender();
  if (std::holds_alternative<RunWaiting>(view.record.event) && appender.in_flight() == 0) {
    inbox_.take();
    // What came in meanwhile is being appended: the run is let go when that is durable.
    if (appender.in_flight() == 0 && run_.state().parked == Parked::yes) run_.end(ok());
  }
  inbox_.drop_refused();
}

void Driver::on_store_threw(const Status& thrown) {
  if (run_.is_over()) return;
  if (accepted_) std::exchange(accepted_, {})(thrown);
  run_.end(thrown);
}

void Driver::on_end(const Status& status) {
  operations_.cancel_all();
  model_calls_.cancel_all();
  // Only after this call has unwound may the owner destroy the driver.
  run_.services().loop.post([self = shared_from_this(), this, status] {
    operations_.drop_retired();
    run_.release();
    if (ended_) std::exchange(ended_, {})(status);
  });
}

void Driver::perform_effects(const Record& record) {
  for (const Effect& effect : record.effects) {
    if (run_.is_over()) return;
    std::visit([&](const auto& one) { perform(record, one); }, effect);
  }
}

void Driver::perform(const Record&, const BeginAgent& effect) {
  callbacks_.begin_agent(effect);
}

void Driver::perform(const Record&, const EndAgent& effect) {
  inbox_.take();  // what was accepted before the end is part of the run
  callbacks_.end_agent(effect);
}

void Driver::perform(const Record&, const CallModel& effect) {
  model_calls_.perform(effect);
}

void Driver::perform(const Record&, const CompactContext& effect) {
  model_calls_.perform(effect);
}

void Driver::perform(const Record& record, const JudgeCall& effect) {
  judge_.perform(record, effect);
}

void Driver::perform(const Record& record, const RunTool& effect) {
  tool_calls_.perform(record, effect);
}

void Driver::perform(const Record& record, const AskStatus& effect) {
  tool_calls_.perform(record, effect);
}

void Driver::perform(const Record&, const AbortEffect& effect) {
  operations_.abort(effect.target);
}

}  // namespace pawl
