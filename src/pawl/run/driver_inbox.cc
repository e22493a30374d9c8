#include "pawl/run/driver_inbox.h"

#include <algorithm>

#include "pawl/filter/secrets/event_filter.h"
#include "pawl/kernel/codec.h"
#include "pawl/run/command_events.h"
#include "pawl/run/driver_processors.h"

namespace pawl {
namespace {

// Each time something new was in the inbox that the run could not answer any more. More than this
// is a flood; the run stays as it is, to be taken up again.
constexpr std::uint64_t kEndsRefusedMax = 1'000;

}  // namespace

// A damaged row might have been a message to act on: it stops its run, and no other.
void DriverInbox::on_unreadable(const Error& error) {
  run_.log("the inbox cannot be read: " + error.message);
  if (error.code != ErrorCode::corrupt) return;
  const Status kept = run_.services().store.journal->quarantine(run_.id(), error.message);
  if (!kept) run_.log("it could not be quarantined: " + kept.error().message);
  run_.end(error);
}

void DriverInbox::take(CommandDrive drive) {
  Inbox* const inbox = run_.services().store.inbox;
  if (run_.is_over() || inbox == nullptr) return;
  // The end is on its way. A row that came before it makes the store refuse it, and is taken then.
  if (std::holds_alternative<Finished>(run_.state().life)) return;
  const auto rows = inbox->pending(run_.id());
  if (!rows) return on_unreadable(rows.error());
  std::vector<std::pair<std::uint64_t, Event>> events;
  for (const InboxRow& row : *rows) {
    auto event = decode_event(row.body);
    const bool is_command = event && std::holds_alternative<CommandGiven>(*event);
    if (drive == CommandDrive::undriven && !is_command) continue;
    if (!seen_.insert(row.row).second) continue;
    const bool fine = event && inbox_rank(*event) != InboxRank::refused;
    if (fine) {
      events.emplace_back(row.row, *std::move(event));
    } else {
      run_.appender().remove_with_next(row.row);
      run_.log("an inbox message was not understood and is dropped");
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return inbox_rank(a.second) < inbox_rank(b.second);
  });
  for (auto& [row, event] : events) {
    run_.appender().remove_with_next(row);
    const std::string what(name(event));
    // Refused: the run has moved on from what it asks for.
    Status fed = prepare(drive, event);
    if (fed) fed = run_.feed(std::move(event), {}, DrivenRun::Filtered::yes);
    if (!fed) run_.log(what + " was refused: " + fed.error().message);
  }
  drop_refused();
}

Status DriverInbox::prepare(CommandDrive drive, Event& event) {
  // It passed the filter when it was posted; this process may know more secrets than that one.
  std::vector<StoredBlob> none;
  const auto& filter = run_.services().filter;
  if (filter) filter_event(*filter, Passage::again, event, none);
  if (auto* message = std::get_if<MessageReceived>(&event)) {
    return process_message(run_, message->text);
  }
  if (auto* resumed = std::get_if<InstanceResumed>(&event)) {
    return process_message(run_, resumed->message);
  }
  if (auto* command = std::get_if<CommandGiven>(&event)) {
    return prepare_command(run_, drive, *command);
  }
  if (auto* turn = std::get_if<ExternalTurnPushed>(&event)) return judge_.prepare(*turn);
  if (auto* decided = std::get_if<CallDecided>(&event)) return judge_.prepare(*decided);
  return ok();
}

// Refused rows are deleted with the next append. If none is in flight they are deleted at once, so
// that their sender learns it: the state that refused them is durable by then.
void DriverInbox::drop_refused() {
  RecordAppender& appender = run_.appender();
  if (run_.is_over() || appender.in_flight() > 0 || !appender.has_inbox_rows()) return;
  // The next driver refuses again the rows that the store could not delete.
  run_.services().store.inbox->drop(run_.id(), run_.setup().lease.epoch, appender.take_inbox_rows(),
                                    [](const Status&) {});
}

// The row was accepted between this driver's last look into the inbox and the record that ends the
// run. The run takes the row, and ends again unless the row opens another turn.
bool DriverInbox::take_back_end(const Record& refused) {
  const RunId& id = run_.id();
  const auto give_up = [&](ErrorCode code, const std::string& message) {
    run_.end(Error{code, message});
    return false;
  };
  if (++ends_refused_ > kEndsRefusedMax) {
    return give_up(ErrorCode::unavailable,
                   "run " + id.text + " cannot end: messages to it never stop");
  }
  Inbox* const inbox = run_.services().store.inbox;
  if (inbox == nullptr) {
    return give_up(ErrorCode::unavailable, "the store speaks of an inbox that it does not have");
  }
  auto before = load_run(run_.reader(), id, UseSnapshot::yes);
  if (!before) return run_.end_unreadable(before.error()), false;
  if (before->run->length != refused.seq) {
    return give_up(ErrorCode::conflict, "run " + id.text + " was changed by someone else");
  }
  const auto rows = inbox->pending(id);
  if (!rows) return run_.end_unreadable(rows.error()), false;
  run_.go_back_to(*std::move(before));
  // The refused record would have deleted the rows that were refused before it.
  (void)run_.appender().take_inbox_rows();
  for (const InboxRow& row : *rows) {
    if (seen_.contains(row.row)) run_.appender().remove_with_next(row.row);
  }
  return true;
}

}  // namespace pawl
