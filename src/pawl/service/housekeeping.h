// Taking runs out of a store, by name or by rule, and copying it: what `pawl rm`, `pawl gc` and
// `pawl backup` ask for, and a server will.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pawl/history/artifacts.h"
#include "pawl/service/service.h"

namespace pawl {

// yes: also runs that are not over. Never those that are driven.
enum class Force : std::uint8_t { no, yes };

// A run is removed when any of these says so.
struct KeepRules {
  std::optional<std::int64_t> older_than_ms = {};  // it has not changed for longer than that
  std::optional<std::size_t> keep = {};  // there are so many newer ones that could be removed
  std::optional<std::uint64_t> bytes_max = {};  // all runs together have more; the oldest go first
  Force force = Force::no;
};

struct StoredRun {
  RunSummary summary;
  bool driven = false;
  std::uint64_t bytes = 0;  // 0: not asked for
};

// Done, stopped, failed, cancelled or quarantined: nothing will happen to it any more.
bool is_over(const RunSummary& summary);
bool may_be_removed(const StoredRun& run, Force force);
// By a rule, unattended: what is damaged may have been waiting, and somebody has to look at it
// first. What was imported for looking only is over.
bool may_be_collected(const StoredRun& run, Force force);

// Which of `runs` (newest first) go at `now_ms`; oldest first.
std::vector<StoredRun> choose_removals(const std::vector<StoredRun>& runs, const KeepRules& rules,
                                       std::int64_t now_ms);

// Which outputs of tools are let go, of runs that stay.
struct ArtifactRules {
  std::int64_t older_than_ms = 0;
  Force force = Force::no;  // also of runs that are not over: what they do not need any more
};

// A run whose old outputs may go.
struct OldArtifacts {
  RunSummary summary;
  std::vector<Digest> blobs = {};
  std::uint64_t bytes = 0;
  std::optional<Error> fault = {};  // it cannot be read: nothing of it goes
};

// Old, and not needed by the run.
bool may_expire(const Artifact& artifact, std::int64_t before_ms);

class Housekeeping {
 public:
  explicit Housekeeping(Service& service) : service_(service) {}

  // What choose_removals() makes of the store as it is now.
  Result<std::vector<StoredRun>> choose(const KeepRules& rules) const;
  // Of every run that the rules allow to look at, also where nothing is old; newest first. Reads
  // the journals of those that have blobs.
  Result<std::vector<OldArtifacts>> choose_artifacts(const ArtifactRules& rules) const;
  // Lets them go, as of now. conflict: the run is driven, or has gone on since they were chosen.
  void expire(const OldArtifacts& old, StatusCallback done);
  // conflict: it is driven, or not over and not forced. `done` when nothing is left of it.
  void remove(const RunId& run, Force force, StatusCallback done);
  // Gives the space of removed runs back. The bytes given back.
  void compact(std::function<void(Result<std::uint64_t>)> done);
  // See Copier::copy_to.
  void backup(const std::string& target, StatusCallback done);
  // See Upkeep::check; nothing where the store does not offer it.
  Status check() const;

 private:
  Status check_removable(const RunId& run, Force force) const;
  Result<bool> may_look_at(const RunSummary& summary, Force force) const;
  OldArtifacts old_of(const RunSummary& summary, std::int64_t before_ms) const;
  const Store& store() const { return service_.engine().store(); }

  Service& service_;
};

}  // namespace pawl
