#include "pawl/history/artifacts.h"

#include <algorithm>
#include <map>
#include <set>

#include "pawl/journal/contents.h"
#include "pawl/journal/record_view.h"
#include "pawl/journal/run_loader.h"

namespace pawl {
namespace {

// The call that an event is the outcome of.
std::optional<CallId> outcome_of(const Event& event) {
  if (const auto* finished = std::get_if<ToolFinished>(&event)) return finished->call;
  if (const auto* learned = std::get_if<ToolStatusLearned>(&event)) return learned->call;
  if (const auto* late = std::get_if<ResultCameLate>(&event)) return late->call;
  return std::nullopt;
}

bool cuts_transcript(const Record& record) {
  return std::any_of(record.decisions.begin(), record.decisions.end(), [](const Decision& one) {
    return std::holds_alternative<TranscriptCut>(one);
  });
}

class Gathering {
 public:
  void take(const Record& record) {
    if (cuts_transcript(record)) cut_ = record.seq;
    const auto call = outcome_of(record.event);
    for (const BlobRef& blob : blobs_of(record.event)) {
      if (call) {
        add(record, *call, blob);
      } else {
        said_.insert(blob.digest);
      }
    }
  }

  std::vector<Artifact> finish(const RunState& state) {
    const std::set<std::uint64_t> needed = needed_records(state);
    for (Artifact& one : found_) {
      const auto& records = records_[one.digest];
      const bool kept = said_.contains(one.digest) ||
                        std::any_of(records.begin(), records.end(),
                                    [&](std::uint64_t seq) { return needed.contains(seq); });
      if (kept) one.need = Artifact::Need::kept;
    }
    return std::move(found_);
  }

 private:
  void add(const Record& record, CallId call, const BlobRef& blob) {
    auto& records = records_[blob.digest];
    if (records.empty()) {
      places_[blob.digest] = found_.size();
      found_.push_back({Artifact::Need::none, call, record.seq, 0, blob.digest, blob.length});
    }
    Artifact& one = found_[places_[blob.digest]];
    one.at_ms = std::max(one.at_ms, record.stamp.at_ms);
    records.push_back(record.seq);
  }

  // A run that is over needs what it said last. One that may go on needs what its next request is
  // made of: everything since a conversation was last cut, what was left of each then, and what
  // waits beside them.
  std::set<std::uint64_t> needed_records(const RunState& state) const {
    std::set<std::uint64_t> needed;
    if (const auto output = output_record(state)) needed.insert(*output);
    if (std::holds_alternative<Finished>(state.life)) return needed;
    for (const auto& [digest, records] : records_) {
      for (const std::uint64_t seq : records) {
        if (seq >= cut_) needed.insert(seq);
      }
    }
    for (const Instance& instance : state.instances) {
      for (const Entry& entry : instance.transcript) needed.insert(entry.seq);
      for (const Entry& entry : instance.waiting_messages) needed.insert(entry.seq);
    }
    for (const Call& call : state.calls) {
      if (const auto* ended = std::get_if<CallEnded>(&call.state)) needed.insert(ended->seq);
      if (call.late_result) needed.insert(*call.late_result);
    }
    return needed;
  }

  std::vector<Artifact> found_;
  std::map<Digest, std::size_t> places_;                  // in found_
  std::map<Digest, std::vector<std::uint64_t>> records_;  // that name it
  std::set<Digest> said_;  // contents of anything else: input, messages, replies, arguments
  std::uint64_t cut_ = 0;  // the last record that shortened a conversation
};

}  // namespace

Result<std::vector<Artifact>> artifacts_of(JournalReader& reader, const RunId& run) {
  Gathering gathering;
  JournalWalker walker(reader, run);
  PAWL_CHECK(walker.walk([&gathering](const Record& record, const Run&) {
    gathering.take(record);
    return true;
  }));
  auto found = gathering.finish(walker.loaded().run.state());
  for (Artifact& one : found) {
    PAWL_TRY(one.expired_at_ms, reader.expired_at(run, one.digest));
  }
  return found;
}

}  // namespace pawl
