// One simulated process's way to the store: groups appends, writes, syncs, then acknowledges; and
// dies with its process at any point of that.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pawl/store.h"
#include "pawl/testing/sim/faults.h"
#include "pawl/testing/sim/storage.h"

namespace pawl::sim {

class SimConnection final : public Journal, public JournalReader, public Catalog, public Inbox {
 public:
  // `on_crash` is called when the process is to die here and now, inside a call into its store.
  SimConnection(SimStorage& storage, SimLoop& loop, Faults& faults, std::function<void()> on_crash);

  Store parts() { return {this, this, this, this}; }
  // The process is gone: what it had written may or may not have been whole.
  void die();
  bool dead() const { return dead_; }
  bool failed() const { return failed_; }

  Result<RunLease> acquire(const RunId& run) override;
  void append(Append append, StatusCallback done) override;
  Status quarantine(const RunId& run, const std::string& why) override;
  Status forgive(const RunId& run, std::uint64_t epoch) override;
  Status lift_quarantine(const RunSummary& summary) override;

  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override;
  Result<std::string> blob(const RunId& run, const Digest& digest) override;
  Result<std::optional<StoredSnapshot>> snapshot(const RunId& run) override;
  Result<std::optional<std::int64_t>> expired_at(const RunId& run, const Digest& digest) override;

  Result<std::vector<RunSummary>> list(const ListQuery& query) override;
  Result<std::uint64_t> version() override;
  Result<bool> is_driven(const RunId& run) override;

  void post(const RunId& run, std::int64_t at_ms, std::string body, StatusCallback done) override;
  Result<std::vector<InboxRow>> pending(const RunId& run) override;
  void drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
            StatusCallback done) override;
  Result<std::vector<RunId>> addressed() override;

 private:
  static constexpr std::size_t kGroupMax = 64;

  struct Queued {
    Op op;
    StatusCallback done;
  };

  Status stopped() const;
  Status wait_for_writer(const RunId& run);
  void enqueue(Op op, StatusCallback done);
  void schedule(std::int64_t delay_ms);
  void commit();
  void finish();
  void apply_written(bool told);
  void answered(const Op& op);
  void fail_all();
  void acknowledge_early(Queued& queued);
  void crash();

  SimStorage& storage_;
  SimLoop& loop_;
  Faults& faults_;
  std::function<void()> on_crash_;
  std::deque<Queued> queue_;
  std::vector<Queued> writing_;
  SimStorage::Written written_;
  std::map<std::string, std::size_t> under_way_;  // appends that were not called back, by run
  std::set<std::string> refused_;                 // those of them behind a refused one
  bool scheduled_ = false;
  bool dead_ = false;
  bool failed_ = false;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // watched by what the store calls back
};

}  // namespace pawl::sim
