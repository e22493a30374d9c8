#include "pawl/runtime/guarded_store.h"

namespace pawl {

Result<Drive> GuardedStore::acquire(const RunId& run) {
  return guarded("the store", [&] { return inner_.journal->acquire(run); });
}

void GuardedStore::append(Append append, StatusCallback done) {
  // Shared, because a store that throws may or may not have taken the callback already.
  const auto shared = std::make_shared<StatusCallback>(std::move(done));
  const Status given = guarded("the store", [&] {
    inner_.journal->append(std::move(append), [shared](Status status) {
      if (*shared) std::exchange(*shared, {})(std::move(status));
    });
    return ok();
  });
  if (!given && *shared) std::exchange(*shared, {})(given);
}

Status GuardedStore::quarantine(const RunId& run, const std::string& why) {
  return guarded("the store", [&] { return inner_.journal->quarantine(run, why); });
}

Result<std::vector<StoredRecord>> GuardedStore::read(const RunId& run, std::uint64_t from,
                                                     std::size_t bytes_max) {
  return guarded("the store", [&] { return inner_.reader->read(run, from, bytes_max); });
}

Result<std::string> GuardedStore::blob(const RunId& run, const Digest& digest) {
  return guarded("the store", [&] { return inner_.reader->blob(run, digest); });
}

Result<std::optional<StoredSnapshot>> GuardedStore::snapshot(const RunId& run) {
  return guarded("the store", [&] { return inner_.reader->snapshot(run); });
}

Result<std::vector<RunSummary>> GuardedStore::list(const ListQuery& query) {
  return guarded("the store", [&] { return inner_.catalog->list(query); });
}

Result<std::uint64_t> GuardedStore::version() {
  return guarded("the store", [&] { return inner_.catalog->version(); });
}

Result<bool> GuardedStore::is_driven(const RunId& run) {
  return guarded("the store", [&] { return inner_.catalog->is_driven(run); });
}

void GuardedStore::post(const RunId& run, std::int64_t at_ms, std::string body,
                        StatusCallback done) {
  const auto shared = std::make_shared<StatusCallback>(std::move(done));
  const Status given = guarded("the store", [&] {
    inner_.inbox->post(run, at_ms, std::move(body), [shared](Status status) {
      if (*shared) std::exchange(*shared, {})(std::move(status));
    });
    return ok();
  });
  if (!given && *shared) std::exchange(*shared, {})(given);
}

Result<std::vector<InboxRow>> GuardedStore::pending(const RunId& run) {
  return guarded("the store", [&] { return inner_.inbox->pending(run); });
}

}  // namespace pawl
