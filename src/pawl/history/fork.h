// A run that begins with the recorded prefix of another. The prefix is decided again: each of its
// events is decided anew under the fork's own id, and none of its effects is performed. So the fork
// has a journal and a chain of its own, and everything that can be done with a run can be done with
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pawl/gate/approvals/approval_signature.h"
#include "pawl/history/fork_edits.h"
#include "pawl/journal/run_loader.h"
#include "pawl/journal/run_writer.h"
#include "pawl/kernel/kernel.h"

namespace pawl {

struct ForkRequest {
  RunId parent;
  std::uint64_t step = 0;  // the last one of the prefix; 0: none, the input alone
  std::vector<ForkEdit> edits;
  std::string model;                  // instead of the parent's; empty: the same
  std::optional<RunId> id;            // made when absent
  std::string by;                     // who forks
  Sign sign = {};                     // likewise, as in StartRequest
  std::optional<Limits> limits = {};  // in place of the parent's; none is lower
  std::optional<Guards> guards = {};  // likewise
  // `step` is the how-maniest of this instance. The prefix ends with the record that ended it,
  // whatever others were doing: what they had under way is taken up as after a crash.
  std::optional<InstanceId> instance = {};
};

// What a fork begins with.
struct Forked {
  RunId run;
  std::uint64_t step = 0;  // the last one of the prefix
  ForkedFrom from;
  Tally inherited;                          // of the prefix: it counts against the fork's limits
  std::optional<InstanceId> instance = {};  // whose step that is
};

// Where the prefix ends: at the first record after which the step and all its calls have ended and
// nothing that was started before is still under way.
struct ForkCut {
  std::uint64_t seq = 0;
  Digest chain;  // of the parent, after that record
};

// Decides a prefix again under the id of the fork, record by record.
class PrefixRewriter {
 public:
  enum class Blobs : std::uint8_t { copied, left_out };
  // `change` is applied to run_started, `edits` to every event.
  PrefixRewriter(JournalReader& reader, const ForkRequest& request, ForkEdits edits,
                 std::function<void(RunStarted&)> change, Blobs blobs);

  // Without a cut, until one is found. conflict: the step has not ended, or an edited event leads
  // elsewhere, so that what follows it cannot have happened. nullopt: the prefix is complete.
  Result<std::optional<WritePiece>> next();

  void end_at(const ForkCut& cut) { cut_ = cut; }
  // From this record on it has this room: run_started, or a reopening.
  void give_room(std::uint64_t seq, std::optional<Limits> limits, std::optional<Guards> guards) {
    room_ = {seq, limits, guards};
  }
  // The last record of the prefix that may say so: a fork has its room where the prefix is over,
  // and not before, where it would not have ended as it did.
  std::uint64_t room_seq() const { return room_seq_; }
  const std::optional<ForkCut>& cut() const { return cut_; }
  const ForkEdits& edits() const { return edits_; }
  const LoadedRun& rewritten() const { return rewritten_; }
  LoadedRun take() { return std::move(rewritten_); }
  // The last record of the prefix: its effects are the first to be performed.
  const Record& last() const { return last_; }
  // Something was under way that an earlier record had started.
  bool leaves_open() const;

 private:
  Result<Record> rewrite(Event event, const Record& original);
  Result<std::vector<StoredBlob>> blobs_for(const Event& event, Ingress& ingress) const;
  Status check_kept(const BlobRef& blob) const;
  Status look_for_cut(const Record& original);
  void count_steps(const Record& original);
  void take_room(Event& event, std::uint64_t seq);
  Status check_open_calls(const Record& original) const;
  Error not_ended() const;

  JournalReader& reader_;
  RunId parent_;
  std::uint64_t step_;  // 0 with `instance_`: not begun yet
  std::optional<InstanceId> instance_;
  std::uint64_t nth_;        // of the instance
  std::uint64_t begun_ = 0;  // steps of the instance
  ForkEdits edits_;
  std::function<void(RunStarted&)> change_;
  Blobs blobs_;
  JournalWalker walker_;  // of the parent
  LoadedRun rewritten_;
  Record last_;
  std::optional<ForkCut> cut_;
  struct GivenRoom {
    std::uint64_t seq = 0;
    std::optional<Limits> limits;
    std::optional<Guards> guards;
  };
  GivenRoom room_;
  std::uint64_t room_seq_ = 0;
  enum class Step : std::uint8_t { open, ended } step_state_ = Step::open;
};

// The epoch of every record of a prefix: that of the first driver of the fork.
inline constexpr std::uint64_t kFirstEpoch = 1;

}  // namespace pawl
