#include "pawl/testing/journal_faulty/journal_faulty.h"

#include <algorithm>
#include <array>

namespace pawl {
namespace {

using Kind = JournalFault::Kind;

Error planned() {
  return Error{ErrorCode::unavailable, "a planned fault"};
}

Error has_crashed() {
  return Error{ErrorCode::unavailable, "the process has crashed here, as planned"};
}

// splitmix64: small, and the same everywhere, which std::uniform_int_distribution is not.
std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

void damage_first(std::vector<StoredRecord>& records, std::uint64_t choice) {
  for (StoredRecord& record : records) {
    if (record.bytes.empty()) continue;
    char& byte = record.bytes[choice % record.bytes.size()];
    byte = static_cast<char>(byte ^ (1 << choice % 8));
    return;
  }
}

}  // namespace

JournalFaults seeded_faults(const SeededFaults& choice) {
  constexpr std::array kKinds = {Kind::refuse_append, Kind::lose_acknowledgement,
                                 Kind::delay_acknowledgement, Kind::refuse_acquire,
                                 Kind::damage_read};
  JournalFaults faults;
  std::uint64_t state = choice.seed;
  for (const Kind kind : kKinds) {
    for (std::uint64_t nth = 1; nth <= choice.calls; ++nth) {
      const bool fails = next_random(state) % 1000 < choice.per_thousand;
      const std::uint64_t posts = 1 + next_random(state) % std::max(1U, choice.posts_max);
      if (!fails) continue;
      const bool delayed = kind == Kind::delay_acknowledgement;
      faults.push_back({kind, nth, delayed ? static_cast<std::uint32_t>(posts) : 0});
    }
  }
  return faults;
}

FaultyJournal::FaultyJournal(JournalPorts behind, Loop& loop, JournalFaults faults)
    : behind_(behind), loop_(loop), faults_(std::move(faults)) {}

FaultyJournal::~FaultyJournal() = default;

void FaultyJournal::crash() {
  crashed_ = true;
  alive_.reset();
  lines_.clear();
  for (const auto& hold : holds_) {
    if (const auto held = hold.lock()) held->behind.reset();
  }
  holds_.clear();
}

std::optional<JournalFault> FaultyJournal::fault_of(Call call, std::uint64_t nth) const {
  const auto found = std::find_if(faults_.begin(), faults_.end(), [&](const JournalFault& fault) {
    const Call concerned = fault.kind == Kind::refuse_acquire ? Call::acquire
                           : fault.kind == Kind::damage_read  ? Call::read
                                                              : Call::append;
    return concerned == call && fault.nth == nth;
  });
  return found == faults_.end() ? std::nullopt : std::optional(*found);
}

Result<RunLease> FaultyJournal::acquire(const RunId& run) {
  if (crashed_) return has_crashed();
  if (fault_of(Call::acquire, ++acquires_)) return planned();
  PAWL_TRY(RunLease lease, behind_.journal.acquire(run));
  const auto hold = std::make_shared<Hold>(Hold{std::move(lease.hold)});
  std::erase_if(holds_, [](const auto& old) { return old.expired(); });
  holds_.push_back(hold);
  lease.hold = hold;
  return lease;
}

void FaultyJournal::append(Append append, StatusCallback done) {
  if (crashed_) return;
  const auto fault = fault_of(Call::append, ++appends_);
  if (fault && fault->kind == Kind::crash_before_append) {
    crash();
    return;
  }
  const auto slot = std::make_shared<Slot>(Slot{std::move(done), std::nullopt});
  lines_[append.run.text].slots.push_back(slot);
  if (fault && fault->kind == Kind::refuse_append) {
    answer_after(1, append.run.text, slot, planned());
  } else {
    forward(std::move(append), slot, fault);
  }
}

void FaultyJournal::forward(Append append, const std::shared_ptr<Slot>& slot,
                            const std::optional<JournalFault>& fault) {
  const std::string run = append.run.text;
  behind_.journal.append(std::move(append), [=, this, alive = watch()](Status status) {
    if (alive.expired()) return;
    if (fault && fault->kind == Kind::crash_after_append) {
      crash();
    } else if (fault && fault->kind == Kind::lose_acknowledgement) {
      answer(run, slot, status ? Status(planned()) : std::move(status));
    } else if (fault && fault->kind == Kind::delay_acknowledgement) {
      answer_after(fault->posts, run, slot, std::move(status));
    } else {
      answer(run, slot, std::move(status));
    }
  });
}

void FaultyJournal::answer_after(std::uint32_t posts, const std::string& run,
                                 const std::shared_ptr<Slot>& slot, Status status) {
  if (posts == 0) {
    answer(run, slot, std::move(status));
    return;
  }
  loop_.post([=, this, alive = watch()] {
    if (!alive.expired()) answer_after(posts - 1, run, slot, status);
  });
}

// Gives every answer that is due. A callback may append, crash or destroy the journal.
void FaultyJournal::answer(const std::string& run, const std::shared_ptr<Slot>& slot,
                           Status status) {
  slot->answer = std::move(status);
  const auto alive = watch();
  while (!alive.expired()) {
    const auto found = lines_.find(run);
    if (found == lines_.end()) return;
    Line& line = found->second;
    if (!line.slots.front()->answer) return;
    const auto due = line.slots.front();
    line.slots.pop_front();
    Status given = std::move(*due->answer);
    if (line.failed && given) {
      given = Error{ErrorCode::conflict, "an append of run " + run + " before this one failed"};
    }
    line.failed = line.failed || !given;
    if (line.slots.empty()) lines_.erase(found);
    due->done(std::move(given));
  }
}

Status FaultyJournal::quarantine(const RunId& run, const std::string& why) {
  if (crashed_) return has_crashed();
  return behind_.journal.quarantine(run, why);
}

Status FaultyJournal::forgive(const RunId& run, std::uint64_t epoch) {
  if (crashed_) return has_crashed();
  return behind_.journal.forgive(run, epoch);
}

Status FaultyJournal::lift_quarantine(const RunSummary& summary) {
  if (crashed_) return has_crashed();
  return behind_.journal.lift_quarantine(summary);
}

Result<std::vector<StoredRecord>> FaultyJournal::read(const RunId& run, std::uint64_t from,
                                                      std::size_t bytes_max) {
  if (crashed_) return has_crashed();
  const auto fault = fault_of(Call::read, ++reads_);
  auto records = behind_.reader.read(run, from, bytes_max);
  if (fault && records) damage_first(*records, reads_);
  return records;
}

Result<std::string> FaultyJournal::blob(const RunId& run, const Digest& digest) {
  if (crashed_) return has_crashed();
  return behind_.reader.blob(run, digest);
}

Result<std::optional<StoredSnapshot>> FaultyJournal::snapshot(const RunId& run) {
  if (crashed_) return has_crashed();
  return behind_.reader.snapshot(run);
}

Result<std::optional<std::int64_t>> FaultyJournal::expired_at(const RunId& run,
                                                              const Digest& digest) {
  if (crashed_) return has_crashed();
  return behind_.reader.expired_at(run, digest);
}

Result<std::vector<RunSummary>> FaultyJournal::list(const ListQuery& query) {
  if (crashed_) return has_crashed();
  return behind_.catalog.list(query);
}

Result<std::uint64_t> FaultyJournal::version() {
  if (crashed_) return has_crashed();
  return behind_.catalog.version();
}

Result<bool> FaultyJournal::is_driven(const RunId& run) {
  if (crashed_) return has_crashed();
  return behind_.catalog.is_driven(run);
}

void FaultyJournal::post(const RunId& run, std::int64_t at_ms, std::string body,
                         StatusCallback done) {
  if (crashed_) return;
  behind_.inbox.post(run, at_ms, std::move(body),
                     [done = std::move(done), alive = watch()](Status status) {
                       if (!alive.expired()) done(std::move(status));
                     });
}

void FaultyJournal::drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
                         StatusCallback done) {
  if (crashed_) return;
  behind_.inbox.drop(run, epoch, std::move(rows),
                     [done = std::move(done), alive = watch()](Status status) {
                       if (!alive.expired()) done(std::move(status));
                     });
}

Result<std::vector<RunId>> FaultyJournal::addressed() {
  if (crashed_) return has_crashed();
  return behind_.inbox.addressed();
}

Result<std::vector<InboxRow>> FaultyJournal::pending(const RunId& run) {
  if (crashed_) return has_crashed();
  return behind_.inbox.pending(run);
}

Status FaultyJournal::check_upkeep() const {
  if (crashed_) return has_crashed();
  if (behind_.upkeep != nullptr) return ok();
  return Error{ErrorCode::unavailable, "the store behind offers no upkeep"};
}

void FaultyJournal::remove(const RunId& run, StatusCallback done) {
  if (crashed_) return;
  StatusCallback answer = [done = std::move(done), alive = watch()](Status status) {
    if (!alive.expired()) done(std::move(status));
  };
  if (behind_.upkeep != nullptr) return behind_.upkeep->remove(run, std::move(answer));
  loop_.post([this, answer = std::move(answer)] { answer(check_upkeep()); });
}

void FaultyJournal::compact(std::function<void(Result<std::uint64_t>)> done) {
  if (crashed_) return;
  std::function<void(Result<std::uint64_t>)> answer =
      [done = std::move(done), alive = watch()](Result<std::uint64_t> bytes) {
        if (!alive.expired()) done(std::move(bytes));
      };
  if (behind_.upkeep != nullptr) return behind_.upkeep->compact(std::move(answer));
  loop_.post([this, answer = std::move(answer)] { answer(check_upkeep().error()); });
}

Result<StoreSize> FaultyJournal::size() {
  PAWL_CHECK(check_upkeep());
  return behind_.upkeep->size();
}

Result<std::vector<RunSize>> FaultyJournal::run_sizes() {
  PAWL_CHECK(check_upkeep());
  return behind_.upkeep->run_sizes();
}

Status FaultyJournal::check() {
  PAWL_CHECK(check_upkeep());
  return behind_.upkeep->check();
}

}  // namespace pawl
