// What all simulated processes share: the disk, the log on it, and an index of the log that says
// what a reader of the store sees. The index is the memory journal, so its rules are those of every
// other store.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pawl/testing/journal_memory/journal_memory.h"
#include "pawl/testing/sim/clock.h"
#include "pawl/testing/sim/disk.h"
#include "pawl/testing/sim/leases.h"
#include "pawl/testing/sim/log.h"
#include "pawl/testing/sim/planted.h"

namespace pawl::sim {

class SimConnection;

class SimStorage {
 public:
  // Sees every record that became part of the store.
  using Watcher = std::function<void(const Append&)>;
  // Sees every append of a living driver that was refused.
  using Refusals = std::function<void(const Append&, const Error&)>;

  SimStorage(SimClock& clock, std::uint64_t seed, PlantedBug bug, Watcher watcher,
             Refusals refusals);

  // Sees every append at the moment a process hands it over.
  void watch_handed_over(Watcher watcher) { handed_over_ = std::move(watcher); }
  void hand_over(const Append& append) {
    if (handed_over_) handed_over_(append);
  }

  // One group: written first, synced and applied later. Nobody else may write in between.
  struct Written {
    std::uint64_t frame = 0;
    std::size_t offset = 0;
    std::vector<Status> outcomes;  // of each operation; what is refused is not in the log
  };
  std::uint64_t next_row() { return ++rows_; }
  // `failed`: runs of the writer with an append that was refused, while others are under way.
  Written write(const std::vector<Op>& group, std::set<std::string>& failed);
  Status sync();
  void apply(const Op& op, const Status& outcome, StatusCallback done);
  // Takes a written group back that never was synced. False: another has been written behind it, so
  // it is part of the log now.
  bool unwrite(const Written& group);

  // At once durable and applied.
  Result<RunLease> acquire(const RunId& run);
  std::uint64_t epoch_of(const RunId& run) const { return index_->epoch_of(run); }
  Status quarantine(const RunId& run, const std::string& why);
  // An append of a process that is gone arrives after all.
  void arrive_late(Append append);

  // All processes are dead. The disk keeps what it kept, and the store is opened anew.
  Status lose_power();
  // All processes are dead: a new one opens the store and reads the log.
  Status reopen();

  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max);
  Result<std::vector<RunSummary>> list(const ListQuery& query);
  // Loading it kills the process from now on.
  void poison(const RunId& run) { poisoned_[run.text] = 0; }
  // Counts a load; true when it kills.
  bool load_kills(const RunId& run);
  // How often that has happened.
  int deadly_loads(const RunId& run) const;
  // A planted bug: whoever cancels a run that is over changes what it ended as.
  void cancel_blindly(const RunId& run, const std::string& body);
  void damage(const RunId& run, std::uint64_t seq) { damaged_.insert({run.text, seq}); }
  // Planted bugs: somebody holds the run, and it may be taken from under him all the same.
  bool has_lapsed(const RunId& run) const { return leases_.has_lapsed(run.text); }
  // Likewise: who lost the run is taken for who holds it.
  void renew(Append& append);
  MemoryJournal& index() { return *index_; }
  SimDisk& disk() { return disk_; }
  SimLoop& loop() { return loop_; }
  PlantedBug bug() const { return bug_; }

  std::int64_t full_until_ms = 0;
  SimConnection* writer = nullptr;  // who is between write() and sync(): the others wait

 private:
  Status write_now(const Op& op);
  Status take_zeros_for_a_record();
  Append without_blobs(Append append);
  bool ends_over_inbox(const Append& append);
  void apply_accepted(const Op& op, StatusCallback done);
  void end_blindly(Append append, StatusCallback done);
  Result<RunLease> acquire_by_lease(const RunId& run);

  SimLoop loop_;
  Rng rng_;
  PlantedBug bug_;
  SimLeases leases_;
  Watcher watcher_;
  Watcher handed_over_;
  Refusals refusals_;
  SimDisk disk_;
  std::uint64_t frames_ = 0;
  std::uint64_t rows_ = 0;  // of inboxes, also of those that a power loss took
  std::unique_ptr<MemoryJournal> index_;
  std::set<std::pair<std::string, std::uint64_t>> damaged_;
  std::map<std::string, int> poisoned_;
  std::set<std::string> cancelled_late_;
  std::set<std::string> uncounted_;  // loads that a planted bug counts later
  std::string last_run_;
};

}  // namespace pawl::sim
