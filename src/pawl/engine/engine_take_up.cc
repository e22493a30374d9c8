// Taking up runs that nobody drives: the agent, the lock, the state, and a driver.
#include <cstdint>
#include <new>
#include <utility>

#include "pawl/base/memory_shortage.h"
#include "pawl/engine/child_runs.h"
#include "pawl/engine/engine.h"
#include "pawl/engine/guarded_store.h"
#include "pawl/journal/run_loader.h"

namespace pawl {

// A run that was acquired and is being loaded.
struct Engine::TakingUp {
  RunId run;
  Result<DriverSetup> setup;  // an error: its first record is damaged
  RunLease lease;
  RunLoading loading;
  std::vector<StatusCallback> taken = {};
};

namespace {

// Some 12 us a record, reading it included.
constexpr std::size_t kSliceRecords = 64;

Error is_over(const Run& run) {
  return {ErrorCode::conflict,
          "run " + run->id.text + " is over: " + std::string(name(status_of(run.state())))};
}

}  // namespace

// --- Loading ------------------------------------------------------------------------------------

// A store that fails here, too, counts the load; `pawl verify` helps then.
void Engine::forgive(const RunId& run, std::uint64_t epoch) const {
  static_cast<void>(options_.store.journal->forgive(run, epoch));
}

// Damage quarantines a run, if a second look finds it too: there is no way back from there, and
// disks and memory do fail for a moment.
Result<LoadedRun> Engine::look_again(const RunId& run) const {
  auto loaded = load_run(*options_.store.reader, run, UseSnapshot::no);
  if (!loaded && loaded.error().code == ErrorCode::corrupt) {
    PAWL_CHECK(options_.store.journal->quarantine(run, loaded.error().message));
  }
  return loaded;
}

// nullopt: there is more of it.
Result<std::optional<LoadedRun>> Engine::load_some(TakingUp& taking, Slice slice) const {
  const std::size_t records = slice == Slice::all ? SIZE_MAX : kSliceRecords;
  const std::size_t bytes = slice == Slice::all ? SIZE_MAX : kSliceBatchBytes;
  const MemoryMayLack survivable;
  try {
    const auto whole = taking.loading.go_on(records, bytes);
    if (whole && !*whole) return std::optional<LoadedRun>();
    auto loaded = whole ? Result<LoadedRun>(taking.loading.take()) : whole.error();
    if (!loaded && loaded.error().code == ErrorCode::corrupt) loaded = look_again(taking.run);
    if (!loaded) return loaded.error();
    if (loaded->not_understood) return not_understood(taking.run, *loaded->not_understood);
    return std::optional<LoadedRun>(*std::move(loaded));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::unavailable,
                 "there is not enough memory to load run " + taking.run.text};
  }
}

// Loads the run on. A store that cannot be read now, or memory that is not there, is not the run's
// fault: then this load does not count against it. nullopt: to be asked again.
std::optional<Result<DriverSetup>> Engine::load_on(TakingUp& taking, Slice slice) const {
  auto loaded = load_some(taking, slice);
  if (!loaded) {
    if (loaded.error().code != ErrorCode::corrupt) forgive(taking.run, taking.lease.epoch);
    return loaded.error();
  }
  if (!*loaded) return std::nullopt;
  if (taking.setup) {
    taking.setup->lease = std::move(taking.lease);
    taking.setup->loaded = **std::move(loaded);
  }
  return std::move(taking.setup);
}

Result<std::shared_ptr<Engine::TakingUp>> Engine::begin_taking_up(const RunId& run) {
  wakes_.erase(run);
  // The agent first: what this process lacks must not count as a failed load of the run.
  auto setup = guarded("the agent", [&] { return setup_of_pinned(run); });
  const bool damaged = !setup && setup.error().code == ErrorCode::corrupt;
  if (!setup && !damaged) return setup.error();
  PAWL_TRY(RunLease lease, options_.store.journal->acquire(run));
  return std::make_shared<TakingUp>(
      TakingUp{run, std::move(setup), std::move(lease),
               RunLoading(*options_.store.reader, run, UseSnapshot::yes)});
}

// A run that nobody drives, and who is to drive it.
Result<DriverSetup> Engine::take_over(const RunId& run) {
  PAWL_TRY(const std::shared_ptr<TakingUp> taking, begin_taking_up(run));
  while (true) {
    if (auto setup = load_on(*taking, Slice::all)) return *std::move(setup);
  }
}

// --- Going on -----------------------------------------------------------------------------------

void Engine::take_up(const RunId& run, StatusCallback taken) {
  if (drivers_.contains(run)) return taken(ok());
  const auto known = taking_up_.find(run);
  if (known != taking_up_.end()) return known->second->taken.push_back(std::move(taken));
  auto begun = begin_taking_up(run);
  if (!begun) return taken(begun.error());
  (*begun)->taken.push_back(std::move(taken));
  taking_up_[run] = *std::move(begun);
  take_up_on(run, Slice::some);
}

// False: it is not whole yet.
bool Engine::take_up_on(const RunId& run, Slice slice) {
  auto setup = load_on(*taking_up_.at(run), slice);
  if (!setup) {
    if (slice == Slice::some) take_up_later(run);
    return false;
  }
  const std::shared_ptr<TakingUp> taking = std::move(taking_up_.extract(run).mapped());
  const Status driven = *setup ? drive_on(taking->run, **std::move(setup)) : setup->error();
  for (const StatusCallback& taken : taking->taken) taken(driven);
  return true;
}

void Engine::take_up_later(const RunId& run) {
  options_.loop.post([this, run, alive = alive_] {
    if (*alive && taking_up_.contains(run)) take_up_on(run, Slice::some);
  });
}

// Somebody has something for it now.
void Engine::finish_taking_up(const RunId& run) {
  while (taking_up_.contains(run)) take_up_on(run, Slice::all);
}

Status Engine::drive_on(const RunId& run, DriverSetup setup) {
  if (std::holds_alternative<Finished>(setup.loaded.run->life)) {
    forgive(run, setup.lease.epoch);  // It was loaded, and nothing is wrong with it.
    return is_over(setup.loaded.run);
  }
  const std::string& remark = setup.agent.remark;
  const std::string by = options_.name + (remark.empty() ? "" : "; " + remark);
  make_driver(std::move(setup), run)->attach(by);
  children_->on_driven(run);
  return ok();
}

Status Engine::resume(const RunId& run) {
  finish_taking_up(run);
  if (drivers_.contains(run)) return ok();
  PAWL_TRY(DriverSetup setup, take_over(run));
  return drive_on(run, std::move(setup));
}

Status Engine::decide(const RunId& run, StatusCallback done, std::optional<CommandGiven> command) {
  finish_taking_up(run);
  if (drivers_.contains(run)) {
    return Error{ErrorCode::conflict, "run " + run.text + " is driven here"};
  }
  PAWL_TRY(DriverSetup setup, take_over(run));
  forgive(run, setup.lease.epoch);  // A command that is refused appends nothing.
  if (std::holds_alternative<Finished>(setup.loaded.run->life)) return is_over(setup.loaded.run);
  const auto said = std::make_shared<Status>(ok());
  deciding_[run] = [said, done = std::move(done)](const Status& ended) {
    done(ended ? *said : ended);
  };
  *said = make_driver(std::move(setup), run)->decide(std::move(command));
  return ok();
}

Status Engine::reopen(const RunId& run, Event event, std::vector<StoredBlob> blobs) {
  finish_taking_up(run);
  if (drivers_.contains(run)) {
    return Error{ErrorCode::conflict, "run " + run.text + " is not over: it is driven here"};
  }
  PAWL_TRY(DriverSetup setup, take_over(run));
  const std::uint64_t epoch = setup.lease.epoch;
  const RunState& state = setup.loaded.run.state();
  // A store counts the drivers of an imported run anew: see DrivenRun::now().
  const Stamp now{std::max(epoch, state.epoch), options_.loop.wall_ms(), state.elapsed_ms};
  Status reopened = check(setup.loaded.run, event, now);
  if (reopened) reopened = check_kept(state);
  if (reopened) {
    reopened = make_driver(std::move(setup), run)->reopen(std::move(event), std::move(blobs));
  }
  if (!reopened) forgive(run, epoch);
  return reopened;
}

}  // namespace pawl
