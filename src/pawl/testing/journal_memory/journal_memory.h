// A store that lives as long as the object: for tests, the simulator, and hosts that want no disk.
// It keeps the whole contract of pawl/store.h except that nothing survives the process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pawl/loop.h"
#include "pawl/store.h"

namespace pawl {

class MemoryJournal final : public Journal,
                            public JournalReader,
                            public Catalog,
                            public Inbox,
                            public Upkeep,
                            public Retention {
 public:
  // `loop` must outlive the journal. Callbacks not yet delivered when the journal is destroyed are
  // never called.
  explicit MemoryJournal(Loop& loop);
  ~MemoryJournal() override;
  MemoryJournal(const MemoryJournal&) = delete;
  MemoryJournal& operator=(const MemoryJournal&) = delete;

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
  // For who keeps a log of posts and applies it anew: the next one has its number of then.
  void number_next_row(std::uint64_t row) { rows_made_ = row - 1; }
  // Likewise: the epoch that an append must name.
  std::uint64_t epoch_of(const RunId& run) const;
  Result<std::vector<InboxRow>> pending(const RunId& run) override;
  void drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
            StatusCallback done) override;
  Result<std::vector<RunId>> addressed() override;

  void remove(const RunId& run, StatusCallback done) override;
  void compact(std::function<void(Result<std::uint64_t>)> done) override;
  Result<StoreSize> size() override;
  Result<std::vector<RunSize>> run_sizes() override;
  Status check() override { return ok(); }  // there is nothing it could disagree with

  Result<std::vector<KeptBlob>> kept_blobs(const RunId& run) override;
  void expire(Expiry expiry, StatusCallback done) override;

 private:
  Status take_away(const RunId& run, std::uint64_t epoch, const std::vector<std::uint64_t>& rows);
  struct Run {
    std::uint64_t number = 0;  // order of creation
    std::uint64_t epoch = 1;
    int loads = 0;  // acquisitions since the last append
    bool quarantined = false;
    RunSummary summary;
    std::vector<StoredRecord> records;
    std::map<Digest, std::string> blobs;
    std::map<Digest, std::int64_t> expired;  // blobs that are not there any more, and since when
    std::optional<StoredSnapshot> snapshot;
    std::vector<InboxRow> inbox;
  };
  // Appends given but not yet called back. While there are any, one failure fails the rest.
  struct InFlight {
    std::size_t count = 0;
    bool failed = false;
  };

  Run* find(const RunId& run);
  Status write(const Append& append);
  Status check_position(const Append& append);
  Status check_epoch(const RunId& run, std::uint64_t epoch);
  Status erase(const RunId& run);
  Status let_go(const Expiry& expiry);
  Status put(const RunId& run, std::int64_t at_ms, std::string body);
  void set_quarantined(Run& run, const std::string& why);

  Loop& loop_;
  std::map<std::string, Run> runs_;
  std::map<std::string, InFlight> in_flight_;
  std::shared_ptr<std::set<std::string>> driven_ = std::make_shared<std::set<std::string>>();
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // watched by posted callbacks
  std::uint64_t runs_made_ = 0;
  std::uint64_t rows_made_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace pawl
