// Asks models: for replies, and for summaries of conversations that have become too long.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "pawl/journal/ingress.h"
#include "pawl/run/call_judge.h"
#include "pawl/run/driven_run.h"
#include "pawl/run/driver_callbacks.h"
#include "pawl/run/model/reply_assembler.h"
#include "pawl/run/operations.h"

namespace pawl {

// Shows the pieces of replies to subscribers while they arrive.
class Previews {
 public:
  explicit Previews(DrivenRun& run) : run_(run) {}

  void show(const CallModel& effect, Preview::Kind kind, std::uint64_t offset, std::string text);
  // Shows what the filter still holds back.
  void finish(const CallModel& effect);

 private:
  // A secret may come in pieces: what could be the beginning of one is held back until it is clear.
  struct FilteredStream {
    std::unique_ptr<ByteStream> bytes;
    std::uint64_t offset = 0;  // counts what was shown
  };
  void publish(const CallModel& effect, Preview::Kind kind, std::uint64_t offset, std::string text);
  void publish_filtered(const CallModel& effect, Preview::Kind kind, FilteredStream& stream,
                        std::string text);

  DrivenRun& run_;
  std::map<EffectId, std::map<Preview::Kind, FilteredStream>> streams_;
};

// Of ephemeral messages that wait for one instance's next request.
inline constexpr std::size_t kWhisperBytesMax = 64U << 10U;

class ModelCalls {
 public:
  ModelCalls(DrivenRun& run, Operations& operations, DriverCallbacks& callbacks, CallJudge& judge)
      : run_(run), operations_(operations), callbacks_(callbacks), judge_(judge), previews_(run) {}

  void perform(const CallModel& effect);
  void perform(const CompactContext& effect);
  // Forgets replies in flight; events that still come are ignored.
  void cancel_all() { replies_.clear(); }

  // Shown at the end of the next request of this instance, and kept in memory until then: it is
  // written down nowhere. limit_exceeded: more than kWhisperBytesMax waits.
  Status whisper(InstanceId instance, const std::string& text);

 private:
  PhaseExecutionRequest request_for(const CallModel& effect) const;
  void call_executor(const CallModel& effect, PhaseExecutionRequest&& request);
  void on_phase_event(const CallModel& effect, PhaseExecutorEvent&& event);
  void on_phase_done(const CallModel& effect);
  void complete(const CallModel& effect, const ReplyAssembler& reply, Ingress& ingress,
                ModelReplied& replied);
  void ask_after_model(const CallModel& effect, const ReplyAssembler& reply, Ingress& ingress,
                       ModelReplied& replied);
  std::string output_fault(const ModelReplied& reply, const std::string& text) const;
  std::optional<std::uint64_t> stated_cost(const std::string& model, const Usage& usage) const;
  void finish(Event&& event, Ingress&& ingress, DrivenRun::Filtered filtered);
  void finish_compaction(const CompactContext& effect, CompactionOutcome outcome);

  DrivenRun& run_;
  Operations& operations_;
  DriverCallbacks& callbacks_;
  CallJudge& judge_;
  Previews previews_;
  InFlight<std::shared_ptr<ReplyAssembler>> replies_;
  // Why a transcript could not be read. An executor can only fail for it; the driver ends.
  const std::shared_ptr<std::optional<Error>> unreadable_ =
      std::make_shared<std::optional<Error>>();
  std::map<InstanceId, std::string> whispers_;  // ephemeral messages
};

}  // namespace pawl
