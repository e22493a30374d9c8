// Converts exceptions from a host-supplied store into errors, so that the run survives.
#pragma once

#include "pawl/base/thrown.h"
#include "pawl/store.h"

namespace pawl {

class GuardedStore final : public Journal,
                           public JournalReader,
                           public Catalog,
                           public Inbox,
                           public Upkeep,
                           public Copier,
                           public Retention {
 public:
  explicit GuardedStore(const Store& inner) : inner_(inner) {}

  Store parts() {
    Upkeep* upkeep = inner_.upkeep == nullptr ? nullptr : this;
    Copier* copier = inner_.copier == nullptr ? nullptr : this;
    Retention* retention = inner_.retention == nullptr ? nullptr : this;
    return {this, this, this, this, upkeep, copier, retention};
  }

  // For drivers: they guard their appends themselves, at less cost for each.
  Store for_drivers() {
    Store store = parts();
    store.journal = inner_.journal;
    return store;
  }

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

  // Only where the store behind offers them.
  void remove(const RunId& run, StatusCallback done) override;
  void compact(std::function<void(Result<std::uint64_t>)> done) override;
  Result<StoreSize> size() override;
  Result<std::vector<RunSize>> run_sizes() override;
  Status check() override;
  void copy_to(const std::string& target, StatusCallback done) override;
  Result<std::vector<KeptBlob>> kept_blobs(const RunId& run) override;
  void expire(Expiry expiry, StatusCallback done) override;

 private:
  Store inner_;
};

}  // namespace pawl
