#include "pawl/service/housekeeping.h"

#include <algorithm>
#include <array>
#include <map>

#include "pawl/history/export.h"

namespace pawl {
namespace {

Error not_offered(std::string_view what) {
  return Error{ErrorCode::invalid_argument, "this store cannot " + std::string(what)};
}

}  // namespace

bool is_over(const RunSummary& summary) {
  static constexpr std::array<RunStatus, 5> kEnds = {RunStatus::done, RunStatus::stopped,
                                                     RunStatus::failed, RunStatus::cancelled,
                                                     RunStatus::quarantined};
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&](RunStatus end) { return summary.status == name(end); });
}

bool may_be_removed(const StoredRun& run, Force force) {
  return !run.driven && (force == Force::yes || is_over(run.summary));
}

bool may_be_collected(const StoredRun& run, Force force) {
  const bool damaged = run.summary.status == name(RunStatus::quarantined) &&
                       !run.summary.reason.starts_with(kLookOnly);
  return may_be_removed(run, force) && (force == Force::yes || !damaged);
}

std::vector<StoredRun> choose_removals(const std::vector<StoredRun>& runs, const KeepRules& rules,
                                       std::int64_t now_ms) {
  std::uint64_t bytes = 0;  // of those that stay
  for (const StoredRun& run : runs) bytes += run.bytes;
  std::size_t newer = 0;
  std::vector<const StoredRun*> spared;  // newest first
  std::vector<StoredRun> chosen;
  for (const StoredRun& run : runs) {
    if (!may_be_collected(run, rules.force)) continue;
    const bool old =
        rules.older_than_ms && now_ms - run.summary.updated_at_ms > *rules.older_than_ms;
    const bool surplus = rules.keep && newer >= *rules.keep;
    ++newer;
    if (old || surplus) {
      bytes -= run.bytes;
      chosen.push_back(run);
    } else {
      spared.push_back(&run);
    }
  }
  std::reverse(chosen.begin(), chosen.end());
  while (rules.bytes_max && bytes > *rules.bytes_max && !spared.empty()) {
    bytes -= spared.back()->bytes;
    chosen.push_back(*spared.back());
    spared.pop_back();
  }
  return chosen;
}

Result<std::vector<StoredRun>> Housekeeping::choose(const KeepRules& rules) const {
  if (store().upkeep == nullptr) return not_offered("remove runs");
  PAWL_TRY(const auto sizes, store().upkeep->run_sizes());
  std::map<RunId, std::uint64_t> bytes;
  for (const RunSize& size : sizes) bytes[size.id] = size.bytes;
  std::vector<StoredRun> runs;
  PAWL_CHECK(service_.for_each({}, [&](const RunSummary& summary) -> Result<bool> {
    StoredRun run{summary, false, bytes[summary.id]};
    // Only for those it matters for: a run that is over is not driven for long.
    if (!is_over(summary)) {
      PAWL_TRY(run.driven, store().catalog->is_driven(summary.id));
    }
    runs.push_back(std::move(run));
    return true;
  }));
  return choose_removals(runs, rules, service_.engine().loop().wall_ms());
}

bool may_expire(const Artifact& artifact, std::int64_t before_ms) {
  return artifact.need == Artifact::Need::none && !artifact.expired_at_ms &&
         artifact.at_ms < before_ms;
}

Result<bool> Housekeeping::may_look_at(const RunSummary& summary, Force force) const {
  if (!is_over(summary) && force == Force::no) return false;
  PAWL_TRY(const bool driven, store().catalog->is_driven(summary.id));
  return !driven;
}

OldArtifacts Housekeeping::old_of(const RunSummary& summary, std::int64_t before_ms) const {
  OldArtifacts old{summary};
  const auto kept = store().retention->kept_blobs(summary.id);
  if (!kept) {
    old.fault = kept.error();
    return old;
  }
  if (kept->empty()) return old;
  const auto artifacts = artifacts_of(*store().reader, summary.id);
  if (!artifacts) {
    old.fault = artifacts.error();
    return old;
  }
  for (const Artifact& one : *artifacts) {
    if (!may_expire(one, before_ms)) continue;
    old.blobs.push_back(one.digest);
    old.bytes += one.bytes;
  }
  return old;
}

Result<std::vector<OldArtifacts>> Housekeeping::choose_artifacts(const ArtifactRules& rules) const {
  if (store().retention == nullptr) return not_offered("let outputs go");
  const std::int64_t before_ms = service_.engine().loop().wall_ms() - rules.older_than_ms;
  std::vector<OldArtifacts> found;
  PAWL_CHECK(service_.for_each({}, [&](const RunSummary& summary) -> Result<bool> {
    PAWL_TRY(const bool looked_at, may_look_at(summary, rules.force));
    if (looked_at) found.push_back(old_of(summary, before_ms));
    return true;
  }));
  return found;
}

void Housekeeping::expire(const OldArtifacts& old, StatusCallback done) {
  Loop& loop = service_.engine().loop();
  if (store().retention != nullptr) {
    const RunSummary& run = old.summary;
    return store().retention->expire({run.id, run.length, old.blobs, loop.wall_ms()},
                                     std::move(done));
  }
  loop.post([done = std::move(done)] { done(not_offered("let outputs go")); });
}

Status Housekeeping::check() const {
  return store().upkeep == nullptr ? ok() : store().upkeep->check();
}

Status Housekeeping::check_removable(const RunId& run, Force force) const {
  if (store().upkeep == nullptr) return not_offered("remove runs");
  PAWL_TRY(StoredRun found, [&]() -> Result<StoredRun> {
    StoredRun one;
    PAWL_TRY(one.summary, service_.summary_of(run));
    PAWL_TRY(one.driven, service_.is_driven(one.summary));
    return one;
  }());
  if (found.driven) {
    return Error{ErrorCode::conflict, "run " + run.text +
                                          " is driven and cannot be removed; end it first with: "
                                          "pawl cancel " +
                                          run.text};
  }
  if (may_be_removed(found, force)) return ok();
  const std::string status = is_under_way(found.summary) ? "interrupted" : found.summary.status;
  return Error{ErrorCode::conflict, "run " + run.text + " is " + status +
                                        " and could be carried on; --force removes it all the "
                                        "same"};
}

void Housekeeping::remove(const RunId& run, Force force, StatusCallback done) {
  const Status removable = check_removable(run, force);
  if (removable) return store().upkeep->remove(run, std::move(done));
  service_.engine().loop().post([removable, done = std::move(done)] { done(removable); });
}

void Housekeeping::compact(std::function<void(Result<std::uint64_t>)> done) {
  if (store().upkeep != nullptr) return store().upkeep->compact(std::move(done));
  service_.engine().loop().post([done = std::move(done)] { done(not_offered("give space back")); });
}

void Housekeeping::backup(const std::string& target, StatusCallback done) {
  if (store().copier != nullptr) return store().copier->copy_to(target, std::move(done));
  service_.engine().loop().post([done = std::move(done)] { done(not_offered("be copied")); });
}

}  // namespace pawl
