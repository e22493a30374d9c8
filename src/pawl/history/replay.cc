#include "pawl/history/replay.h"

#include "pawl/base/json_diff.h"
#include "pawl/journal/contents.h"
#include "pawl/journal/event_json.h"
#include "pawl/journal/run_loader.h"
#include "pawl/kernel/kernel.h"

namespace pawl {
namespace {

std::string text_of(const std::optional<Json>& value) {
  return value ? write_json(*value) : "";
}

// Records whose bytes differ may look alike as JSON; then contents are compared as they are.
ReplayDifference difference_of(const Record& recorded, const Record& decided) {
  ReplayDifference difference{recorded.seq, std::string(name(recorded.event)), "$", "", ""};
  for (const Contents contents : {Contents::parsed, Contents::verbatim}) {
    const auto left = parse_json(record_json(recorded, contents));
    const auto right = parse_json(record_json(decided, contents));
    if (!left || !right) continue;
    const auto found = json_differences(*left, *right, 1);
    if (found.empty()) continue;
    difference.path = found.front().path;
    difference.recorded = text_of(found.front().left);
    difference.decided = text_of(found.front().right);
    break;
  }
  return difference;
}

class Replay {
 public:
  Replay(JournalReader& reader, const RunId& id) : reader_(reader), walker_(reader, id) {
    report_.run = id;
    report_.chain = chain_origin(id);
  }

  Result<ReplayReport> go() {
    while (true) {
      auto record = walker_.next();
      if (!record) {
        if (record.error().code == ErrorCode::not_found) return record.error();
        report_.damage = record.error().message;
        return std::move(report_);
      }
      if (!*record) break;
      if (!take(**record)) return std::move(report_);
    }
    // Equal records have equal bytes; the chain says so of all of them together.
    if (report_.chain != walker_.loaded().chain) report_.damage = "the chain hash differs";
    report_.lineage = lineage();
    return std::move(report_);
  }

 private:
  // False: there is no use in going on.
  bool take(const Record& recorded) {
    if (!is_understood(recorded)) {
      report_.damage = not_understood(report_.run, recorded.seq).message;
      return false;
    }
    auto again = make_again(recorded);
    if (!again) {
      report_.difference = ReplayDifference{recorded.seq, std::string(name(recorded.event)), "$",
                                            "", "refused: " + again.error().message};
      return false;
    }
    again->minor = recorded.minor;
    if (*again != recorded) {
      report_.difference = difference_of(recorded, *again);
      return false;
    }
    report_.chain = chain_after(report_.chain, encode_record(*again));
    ++report_.records;
    return blobs_are_there(recorded);
  }

  // An event of a later version that may be skipped has no decisions: there is nothing to make
  // again.
  Result<Record> make_again(const Record& recorded) {
    if (!std::holds_alternative<Unrecognised>(recorded.event)) {
      return advance(run_, recorded.event, recorded.stamp);
    }
    PAWL_CHECK(fold(run_, recorded));
    return recorded;
  }

  bool blobs_are_there(const Record& record) {
    for (const BlobRef& blob : blobs_of(record.event)) {
      const auto bytes = reader_.blob(report_.run, blob.digest);
      const bool whole = bytes && bytes->size() == blob.length;
      if (!bytes && has_expired(reader_, report_.run, blob.digest)) {
        ++report_.expired;
      } else if (!whole) {
        report_.damage = "blob " + to_hex(blob.digest) + " of record " +
                         std::to_string(record.seq) + ": " +
                         (bytes ? "it is not as long as the record says" : bytes.error().message);
        return false;
      }
      ++report_.blobs;
    }
    return true;
  }

  Lineage lineage() const {
    const auto& from = walker_.loaded().run->forked_from;
    if (!from) return Lineage::no_fork;
    const auto parent = reader_.read(from->run, from->seq, 1);
    if (!parent && parent.error().code == ErrorCode::not_found) return Lineage::parent_absent;
    const bool there = parent && !parent->empty() && parent->front().seq == from->seq;
    return there && parent->front().chain == from->chain ? Lineage::confirmed
                                                         : Lineage::contradicted;
  }

  JournalReader& reader_;
  JournalWalker walker_;
  Run run_;  // made again; the walker's is the recorded one
  ReplayReport report_;
};

}  // namespace

std::string_view name(Lineage value) {
  switch (value) {
    case Lineage::no_fork:
      return "no_fork";
    case Lineage::confirmed:
      return "confirmed";
    case Lineage::parent_absent:
      return "parent_absent";
    case Lineage::contradicted:
      return "contradicted";
  }
  return "no_fork";
}

Result<ReplayReport> replay(JournalReader& reader, const RunId& run) {
  return Replay(reader, run).go();
}

}  // namespace pawl
