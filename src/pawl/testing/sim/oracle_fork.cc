// The part of the oracle that watches forks: a prefix is what the other run recorded, and what that
// had cost by then, its fork has spent.
#include "pawl/kernel/codec.h"
#include "pawl/testing/sim/oracle.h"

namespace pawl::sim {

// Which run a record was first recorded in; forks of forks go back further.
const RunId& Oracle::lived_by(const Track& track, const RunId& id, std::uint64_t seq) const {
  if (!track.forked || seq > track.forked->seq) return id;
  const auto parent = tracks_.find(track.forked->run.text);
  return parent == tracks_.end() ? track.forked->run
                                 : lived_by(parent->second, track.forked->run, seq);
}

void Oracle::check_prefix(const Track& track, const Record& record) {
  if (!track.forked || record.seq > track.forked->seq) return;
  const auto stored = storage_->index().read(track.forked->run, record.seq, 1);
  const auto original = stored && !stored->empty()
                            ? decode_record(stored->front().bytes)
                            : Result<Record>(Error{ErrorCode::not_found, "nothing is there"});
  if (!original) return fail("a fork begins with what was never recorded");
  if (record.seq == track.forked->seq && stored->front().chain != track.forked->chain) {
    fail("a fork names another chain than that of its origin");
  }
  if (record.stamp.elapsed_ms != original->stamp.elapsed_ms) fail("a fork has another clock");
  if (record.seq > 0 && encode_event(record.event) != encode_event(original->event)) {
    fail("a fork tells another story than the run it comes from");
  }
}

void Oracle::check_inherited(const Track& track) {
  Run origin;
  const auto stored = storage_->index().read(track.forked->run, 0, SIZE_MAX);
  for (std::uint64_t seq = 0; stored && seq <= track.forked->seq; ++seq) {
    const auto record = decode_record(stored->at(seq).bytes);
    if (!record || !fold(origin, *record)) return fail("the origin of a fork cannot be read");
  }
  if (origin->tally != track.run->tally) {
    fail("a fork has spent something else than its origin had: " +
         std::to_string(track.run->tally.cost_pico) + ", not " +
         std::to_string(origin->tally.cost_pico));
  }
  if (origin->limits != track.run->limits) fail("a fork has other limits than its origin");
}

void Oracle::on_forked(const Forked& forked) {
  on_accepted(forked.run);
  ++forks_;
  const Track& track = tracks_[forked.run.text];
  if (!track.is_whole()) fail("a fork is accepted, and is not whole");
  if (forked.inherited != track.run->tally) fail("a fork is said to have spent something else");
}

}  // namespace pawl::sim
