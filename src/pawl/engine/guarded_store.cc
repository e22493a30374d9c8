#include "pawl/engine/guarded_store.h"

namespace pawl {
namespace {

// Hands a callback to `give`, which may throw before or after it has taken it: either way it is
// called once.
template <class Answer, class Give>
void give_once(std::function<void(Answer)> done, Give&& give) {
  const auto shared = std::make_shared<std::function<void(Answer)>>(std::move(done));
  const Status given = guarded("the store", [&] {
    give([shared](Answer answer) {
      if (*shared) std::exchange(*shared, {})(std::move(answer));
    });
    return ok();
  });
  if (!given && *shared) std::exchange(*shared, {})(given.error());
}

}  // namespace

Result<RunLease> GuardedStore::acquire(const RunId& run) {
  return guarded("the store", [&] { return inner_.journal->acquire(run); });
}

void GuardedStore::append(Append append, StatusCallback done) {
  give_once(std::move(done), [&](StatusCallback once) {
    inner_.journal->append(std::move(append), std::move(once));
  });
}

Status GuardedStore::quarantine(const RunId& run, const std::string& why) {
  return guarded("the store", [&] { return inner_.journal->quarantine(run, why); });
}

Status GuardedStore::forgive(const RunId& run, std::uint64_t epoch) {
  return guarded("the store", [&] { return inner_.journal->forgive(run, epoch); });
}

Status GuardedStore::lift_quarantine(const RunSummary& summary) {
  return guarded("the store", [&] { return inner_.journal->lift_quarantine(summary); });
}

Result<std::vector<StoredRecord>> GuardedStore::read(const RunId& run, std::uint64_t from,
                                                     std::size_t bytes_max) {
  if (inner_.reader == nullptr) {
    return Error{ErrorCode::unavailable, "this store cannot be read"};
  }
  return guarded("the store", [&] { return inner_.reader->read(run, from, bytes_max); });
}

Result<std::string> GuardedStore::blob(const RunId& run, const Digest& digest) {
  return guarded("the store", [&] { return inner_.reader->blob(run, digest); });
}

Result<std::optional<StoredSnapshot>> GuardedStore::snapshot(const RunId& run) {
  return guarded("the store", [&] { return inner_.reader->snapshot(run); });
}

Result<std::optional<std::int64_t>> GuardedStore::expired_at(const RunId& run,
                                                             const Digest& digest) {
  return guarded("the store", [&] { return inner_.reader->expired_at(run, digest); });
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
  give_once(std::move(done), [&](StatusCallback once) {
    inner_.inbox->post(run, at_ms, std::move(body), std::move(once));
  });
}

void GuardedStore::drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
                        StatusCallback done) {
  give_once(std::move(done), [&](StatusCallback once) {
    inner_.inbox->drop(run, epoch, std::move(rows), std::move(once));
  });
}

Result<std::vector<RunId>> GuardedStore::addressed() {
  return guarded("the store", [&] { return inner_.inbox->addressed(); });
}

Result<std::vector<InboxRow>> GuardedStore::pending(const RunId& run) {
  return guarded("the store", [&] { return inner_.inbox->pending(run); });
}

void GuardedStore::remove(const RunId& run, StatusCallback done) {
  give_once(std::move(done),
            [&](StatusCallback once) { inner_.upkeep->remove(run, std::move(once)); });
}

void GuardedStore::compact(std::function<void(Result<std::uint64_t>)> done) {
  give_once(std::move(done), [&](std::function<void(Result<std::uint64_t>)> once) {
    inner_.upkeep->compact(std::move(once));
  });
}

Result<StoreSize> GuardedStore::size() {
  return guarded("the store", [&] { return inner_.upkeep->size(); });
}

Result<std::vector<RunSize>> GuardedStore::run_sizes() {
  return guarded("the store", [&] { return inner_.upkeep->run_sizes(); });
}

Status GuardedStore::check() {
  return guarded("the store", [&] { return inner_.upkeep->check(); });
}

void GuardedStore::copy_to(const std::string& target, StatusCallback done) {
  give_once(std::move(done),
            [&](StatusCallback once) { inner_.copier->copy_to(target, std::move(once)); });
}

Result<std::vector<KeptBlob>> GuardedStore::kept_blobs(const RunId& run) {
  return guarded("the store", [&] { return inner_.retention->kept_blobs(run); });
}

void GuardedStore::expire(Expiry expiry, StatusCallback done) {
  give_once(std::move(done), [&](StatusCallback once) {
    inner_.retention->expire(std::move(expiry), std::move(once));
  });
}

}  // namespace pawl
