// Says whether a history is right. It watches what becomes durable and what is done to the outside
// world, keeps its own books about both, and names the first thing that must not have happened.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pawl/executor.h"
#include "pawl/gate/call_gate.h"
#include "pawl/history/fork.h"
#include "pawl/journal/record_view.h"
#include "pawl/kernel/kernel.h"
#include "pawl/testing/sim/reference/tree_model.h"
#include "pawl/testing/sim/storage.h"
#include "pawl/testing/sim/world/policy.h"
#include "pawl/tool.h"

namespace pawl::sim {

// What models ask for again and again; all other inputs differ.
inline constexpr std::string_view kRepeatedInput = R"({"n":7})";

// The tool whose result is the answer of the run.
inline constexpr const char* kAnsweringTool = "tell";

// One block as the simulated model wrote it.
struct WrittenBlock {
  std::string text;  // of a text block; the input of a call
  std::string tool;  // empty for text

  friend bool operator==(const WrittenBlock&, const WrittenBlock&) = default;
};

// What a simulated model told about one attempt, besides what it wrote.
struct ModelReport {
  std::optional<Usage> usage;
  std::uint64_t retry_after_ms = 0;
};

// What the journal says about whether one call may run.
struct CallStanding {
  std::string tool;
  std::optional<ApprovalAsked> asked;  // what a person is to decide about, if anybody
  std::optional<Digest> granted;       // what a person approved
  std::optional<std::string> edited;   // the arguments they put in its place
  enum class Word : std::uint8_t { unspoken, permitted, denied } word = Word::unspoken;
};

// What the journal of one run says, kept beside it.
struct Track {
  Run run;            // by what was recorded
  Run decided_again;  // by the events alone
  Digest chain;
  std::vector<Digest> chains;             // by seq
  std::map<EffectId, Effect> intents;     // durable: model calls, tool calls, questions
  std::set<EffectId> performed;           //
  std::map<CallId, std::string> inputs;   // of calls, as the model wrote them
  std::map<CallId, std::string> results;  // of calls that succeeded
  std::map<CallId, std::string> keys;     //
  std::map<CallId, CallStanding> standings;
  std::map<std::string, int> decided;   // decisions of people that were taken, how often
  std::map<std::string, int> messages;  // texts received, how often
  std::uint64_t steps = 0;              // counted from decisions
  std::uint64_t model_calls = 0;        // counted from effects
  std::uint64_t tool_calls = 0;         // counted from decisions
  Usage usage;                          // summed up from events and decisions
  std::uint64_t cost_pico = 0;          // likewise
  std::uint64_t budget_pico = 0;        // given at the start, and by people since
  std::uint64_t published = 0;          // records that somebody has seen
  std::uint64_t rows_before_rest = 0;   // inbox rows up to here must be taken before it is over
  TreeModel tree;                       // of its instances
  std::optional<ForkedFrom> forked;     // its records up to there are those of another run
  enum class Standing : std::uint8_t { sound, damaged, poisoned } standing = Standing::sound;
  enum class Acceptance : std::uint8_t { unknown, accepted } acceptance = Acceptance::unknown;

  // A fork is one when the last record of its prefix is there.
  bool is_whole() const { return !forked || chains.size() > forked->seq; }
};

// Whether the instance that it is for can still read it.
bool has_reader(const RunState& state, const MessageReceived& message);

struct Met {
  std::array<std::uint64_t, std::variant_size_v<Event>> events{};
  std::array<std::uint64_t, std::variant_size_v<Decision>> decisions{};
};

class Oracle {
 public:
  Oracle(SimClock& clock, const SimPolicy& policy) : clock_(clock), policy_(policy) {}
  void watch(SimStorage& storage) { storage_ = &storage; }

  // Facts of the store. A record is handed over at the moment of its stamp, and durable later.
  void on_handed_over(const Append& append);
  void on_durable(const Append& append);
  void on_published(const RecordView& view);
  void on_accepted(const RunId& run);
  void on_forked(const Forked& forked);
  void on_power_loss();
  // Its driver has let the run go, for no other reason than that it waits or is over.
  void on_let_go(const RunId& run);
  // Its driver has let an ending run go, with records that the store had not written yet.
  void on_left_unwritten(const RunId& run);
  // Only such a driver may find that another one has taken the run up.
  bool has_left_unwritten(const RunId& run, std::uint64_t epoch) const;

  // Facts of the outside world.
  void on_model_called(const PhaseExecutionRequest& request);
  void on_model_replied(const PhaseExecutionRequest& request, std::vector<WrittenBlock> blocks);
  void on_model_told(const PhaseExecutionRequest& request, const ModelReport& told);
  void on_tool_invoked(const ToolInvocation& invocation, const std::string& tool);
  void on_tool_answered(const ToolInvocation& invocation, const ToolOutcome& outcome);
  void on_summary_asked(const CompactionRequest& request);
  void on_summary_told(const RunId& run, const Usage& usage);
  void on_status_asked(const ToolInvocation& invocation);
  void on_effect(const std::string& key, EffectClass effect_class);
  void on_message_accepted(const RunId& run, const std::string& text);

  // What a callback said before a model or tool is called: the last word counts.
  void on_asked_before(const RunId& run, std::uint64_t step_or_call, HookPoint point,
                       HookVerdict verdict);

  // What the gate answered, or is taken to have answered: its last word about these bytes counts.
  void on_gate_said(const RunId& run, const ProposedCall& call, CallVerdict verdict);
  // Somebody has decided, and sent it off.
  void on_person_decided(const RunId& run, const CallDecided& decided);

  // Questions of the simulated operator.
  bool has_happened(const std::string& key) const { return effects_.contains(key); }
  std::map<std::string, Track>& tracks() { return tracks_; }
  void on_end();

  void fail(const std::string& what);
  const std::optional<std::string>& violation() const { return violation_; }
  std::uint64_t records() const { return records_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t forks() const { return forks_; }
  std::uint64_t effects_total() const { return effects_total_; }
  std::uint64_t trace_hash() const { return hash_; }
  // How often each event and decision became durable, by its place in the variant.
  const Met& met() const { return met_; }

 private:
  using Attempt = std::pair<std::uint64_t, std::uint32_t>;  // step or call, attempt

  void check_decision(Track& track, const Record& record, const std::string& bytes);
  void check_limits(const RunId& id, const Track& track);
  void check_machine(Track& track, const Record& record);
  void take(Track& track, const RunId& id, const Record& record);
  void check_reply(Track& track, const RunId& id, const ModelReplied& event);
  void check_result(Track& track, const RunId& id, const ToolFinished& event);
  void check_transcript(const PhaseExecutionRequest& request, const Track& track);
  void check_result_message(const Track& track, const Message& message, const CallBlock& asked);
  void check_usage(const Track& track, const RunId& id, EffectId effect, const Usage& charged);
  void check_retry(const Track& track, const RunId& id, const Record& record);
  void check_allowed(const RunId& run, std::uint64_t step_or_call, HookPoint point);
  void take_permissions(Track& track, const RunId& id, const Record& record);
  void take_asked(Track& track, const ApprovalAsked& asked);
  void take_decided(Track& track, const RunId& id, const Record& record);
  void take_denied(CallStanding& standing, const CallDenied& denied, const Stamp& stamp);
  void check_started(const Track& track, const Record& record);
  void check_permitted(const Track& track, const ToolInvocation& invocation);
  void note_inbox(const RunId& id, Track& track, const Record& record);
  void check_inbox(const RunId& id, const Track& track, const std::string& when);
  void add_usage(Track& track, const Usage& usage, std::uint32_t target);
  void add_usage_of(Track& track, EffectId effect, const Usage& usage);
  void check_summary_usage(const RunId& id, EffectId effect, const Usage& charged);
  void take_usage(Track& track, const RunId& id, const Record& record);
  void check_budget(const RunId& id, const Track& track, const Record& record);
  const RunId& lived_by(const Track& track, const RunId& id, std::uint64_t seq) const;
  void check_prefix(const Track& track, const Record& record);
  void check_inherited(const Track& track);
  void check_blobs(const RunId& id, const Record& record);
  void rebuild(const std::string& id, Track& track);
  template <class E>
  const E* intent(const Track& track, EffectId id) const {
    const auto found = track.intents.find(id);
    return found == track.intents.end() ? nullptr : std::get_if<E>(&found->second);
  }

  SimClock& clock_;
  const SimPolicy& policy_;
  SimStorage* storage_ = nullptr;
  std::map<std::string, Track> tracks_;
  std::map<std::string, std::map<Attempt, std::vector<WrittenBlock>>> replies_;  // by run
  std::map<std::string, std::map<Attempt, ToolOutcome>> outcomes_;               // by run
  std::map<std::string, std::map<Attempt, ModelReport>> told_;                   // by run
  std::map<std::string, EffectId> summing_;                      // the latest one, by run
  std::map<std::pair<std::string, EffectId>, Usage> summaries_;  // what each took
  std::map<std::pair<std::string, std::uint64_t>, std::pair<std::uint64_t, std::int64_t>>
      clocks_;  // by run and epoch: elapsed and monotonic time of the first record
  std::set<std::pair<std::string, std::uint64_t>> left_unwritten_;  // runs and epochs
  std::map<std::string, std::uint64_t> told_again_;  // the last record of each fork's prefix
  std::set<std::tuple<std::string, std::uint64_t, HookPoint>> forbidden_;
  std::map<std::tuple<std::string, std::string, std::string>, CallVerdict>
      words_;                                               // of the gate, by run, tool and input
  std::map<std::string, std::map<std::string, int>> sent_;  // decisions of people, by run
  std::map<std::string, std::pair<std::string, CallId>> key_owners_;
  std::map<std::string, int> effects_;  // by key
  std::map<std::string, std::set<std::string>> accepted_messages_;
  std::optional<std::string> violation_;
  std::uint64_t records_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t forks_ = 0;
  std::uint64_t effects_total_ = 0;
  std::uint64_t hash_ = 0;
  Met met_;
};

}  // namespace pawl::sim
