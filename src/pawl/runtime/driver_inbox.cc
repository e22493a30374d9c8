// What other processes ask of a run, and what becomes of it at the run's end.
#include <algorithm>

#include "pawl/kernel/codec.h"
#include "pawl/runtime/driver.h"

namespace pawl {
namespace {

// Each time something new was in the inbox that the run could not answer any more. More than this
// is a flood; the run stays as it is, to be taken up again.
constexpr std::uint64_t kEndsRefusedMax = 1'000;

}  // namespace

// What waits there would be acted on. A row that is damaged stops its run, and no other.
void Driver::inbox_failed(const Error& error) {
  log("the inbox cannot be read: " + error.message);
  if (error.code != ErrorCode::corrupt) return;
  const Status kept = services_.store.journal->quarantine(id_, error.message);
  if (!kept) log("it could not be quarantined: " + kept.error().message);
  end(error);
}

void Driver::take_inbox() {
  if (over_ || services_.store.inbox == nullptr) return;
  // The end is on its way. A row that came before it makes the store refuse it, and is taken then.
  if (std::holds_alternative<Finished>(loaded_.run->life)) return;
  const auto rows = services_.store.inbox->pending(id_);
  if (!rows) return inbox_failed(rows.error());
  std::vector<std::pair<std::uint64_t, Event>> events;
  for (const InboxRow& row : *rows) {
    if (!inbox_seen_.insert(row.row).second) continue;
    auto event = decode_event(row.body);
    const bool fine = event && inbox_rank(*event) != InboxRank::refused;
    if (fine) {
      events.emplace_back(row.row, *std::move(event));
    } else {
      inbox_to_remove_.push_back(row.row);
      log("an inbox message was not understood and is dropped");
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return inbox_rank(a.second) < inbox_rank(b.second);
  });
  for (auto& [row, event] : events) {
    inbox_to_remove_.push_back(row);
    const std::string what(name(event));
    // Refused: the run has moved on from what it asks for.
    Status fed = prepare(event);
    if (fed) fed = feed(std::move(event), {}, Filtered::yes);
    if (!fed) log(what + " was refused: " + fed.error().message);
  }
  drop_refused();
}

// What was refused goes with the next record. If none is on its way it goes by itself, so that
// whoever posted it learns it, and as the state that refused it is durable by then.
void Driver::drop_refused() {
  if (over_ || appends_open_ > 0 || inbox_to_remove_.empty()) return;
  // Rows that stay for want of a store are refused again by the next driver.
  services_.store.inbox->drop(id_, setup_.drive.epoch, std::exchange(inbox_to_remove_, {}),
                              [](const Status&) {});
}

// A row was accepted between this driver's last look into the inbox and the record that ends the
// run, so the store refused that record. The run goes back to the state before it, takes the row,
// and ends again unless the row opens another turn.
void Driver::take_back_end(const Record& refused, EffectId effect) {
  if (++ends_refused_ > kEndsRefusedMax) {
    return end(Error{ErrorCode::unavailable,
                     "run " + id_.text + " cannot end: messages to it never stop"});
  }
  if (services_.store.inbox == nullptr) {
    return end(Error{ErrorCode::unavailable, "the store speaks of an inbox that it does not have"});
  }
  auto before = load_run(*services_.store.reader, id_, UseSnapshot::yes);
  if (!before) return end_unreadable(before.error());
  if (before->run->length != refused.seq) {
    return end(Error{ErrorCode::conflict, "run " + id_.text + " was changed by someone else"});
  }
  const auto rows = services_.store.inbox->pending(id_);
  if (!rows) return end_unreadable(rows.error());
  loaded_ = *std::move(before);
  snapshot_.reset();
  note_summary();
  // Those that were refused before would have gone with the record.
  inbox_to_remove_.clear();
  for (const InboxRow& row : *rows) {
    if (inbox_seen_.contains(row.row)) inbox_to_remove_.push_back(row.row);
  }
  perform(refused, EndAgent{effect});
}

}  // namespace pawl
