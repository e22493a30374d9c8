// Reads of a store, on a connection of the loop thread's own. SQLite's log lets it read while the
// committer, or another process, writes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/store.h"

namespace pawl::sqlite {

class Reader final : public JournalReader {
 public:
  explicit Reader(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<bool> exists(const RunId& run);
  Result<std::vector<InboxRow>> pending(const RunId& run);
  Result<std::vector<RunId>> addressed();

  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override;
  Result<std::string> blob(const RunId& run, const Digest& digest) override;
  Result<std::optional<StoredSnapshot>> snapshot(const RunId& run) override;
  Result<std::optional<std::int64_t>> expired_at(const RunId& run, const Digest& digest) override;
  // As a Catalog does.
  Result<std::vector<RunSummary>> list(const ListQuery& query);
  Result<std::uint64_t> version();

  // A record that this process has committed. The connection knows where it is without reading the
  // row; what nobody told it of it would read all at once, when a record is next asked for.
  void note(const Written& written);

  // As an Upkeep does.
  Result<StoreSize> size();
  Result<std::vector<RunSize>> run_sizes();
  Status check();
  // As a Retention does.
  Result<std::vector<KeptBlob>> kept_blobs(const RunId& run);

 private:
  struct Batch;

  Status take_known(std::int64_t number, Batch& batch);
  Result<std::optional<std::int64_t>> number_of(const RunId& run);

  std::unique_ptr<Connection> connection_;
  std::uint64_t noted_ = 0;
};

}  // namespace pawl::sqlite
