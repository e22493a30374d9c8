// What a semantics number stands for: the constants, estimators and sentences that runs are decided
// by. A run keeps the number it began with, and so its rules, whatever later programs know. A
// change that alters a decision or a sentence is a new number: copy the rules, change the copy.
//
// What fold() applies is in the record: it knows no rules. The verdicts of gate, sandbox and egress
// come as events and have no number.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/content.h"
#include "pawl/kernel/retry.h"
#include "pawl/limits.h"

namespace pawl {

// The number that a run of this program begins with.
inline constexpr std::uint32_t kSemantics = 1;

// Words of Pawl's own in a conversation have at most this length.
inline constexpr std::size_t kWordsBytesMax = 1024;

// What a model reads. All but the last two are recorded as they are decided; those two live in one
// request.
struct Sentences {
  std::string_view wrap_up;          // after a reply that was cut off
  std::string_view repair;           // followed by what is wrong with an answer
  std::string_view outcome_unknown;  // the result of a call of which nobody knows what it did
  std::string_view trimmed;          // {}: how many messages are gone
  std::string_view unknown_tool;     // followed by the tools there are
  std::string_view no_tools;
  std::string_view invalid_input;  // followed by what is wrong with it
  std::string_view cut_off;        // the result of a call in a reply that was cut off
  std::string_view yielded;        // in one that gave control away
  std::string_view ended;          // in one that came when the run was ending
  std::string_view denied;         // followed by why
  std::string_view many_open;      // {}: how many calls wait for people
  std::string_view many_asked;     // {}: how often people were asked
  std::string_view many_denied;    // {}: how often they have denied it
  std::string_view unanswered;
  std::string_view denied_by;  // followed by whom
  std::string_view no_reason;
  // What calls of the kernel's own tools answer, and what goes from one instance to another. {}
  // stands for a name or a number.
  std::string_view moves_to;  // {}: the node
  std::string_view updated;
  std::string_view spawned;  // {}: the instance
  std::string_view cedes;
  std::string_view not_done;        // followed by why
  std::string_view leaves_already;  // a second transition, cede or suspension in a reply
  std::string_view left_already;    // something else behind it
  std::string_view root_cedes;
  std::string_view no_room;   // {}: how many instances may live
  std::string_view too_deep;  // {}: how many ancestors there may be
  std::string_view second_child;
  std::string_view proposed;  // {}: the number of the proposal
  std::string_view conflict;
  std::string_view content_ceded;  // {}: the sender
  std::string_view content_failed;
  std::string_view content_stopped;
  std::string_view agent_too_deep;      // {}: how many levels there may be beneath the first run
  std::string_view agent_too_many;      // {}: how many runs may be started
  std::string_view agent_calls_itself;  // {}: the tool
  std::string_view last_of;             // {}: how many messages with one key there have been
  std::string_view work_is_open;        // {}: the items
  std::string_view entered;             // where a conversation goes on in another node
  std::string_view begin;               // where it has no beginning
  std::array<std::string_view, 3> steps_left;  // none, one, two
  std::string_view summary_wanted;             // the instructions of whoever sums up
};

struct Rules {
  std::uint32_t semantics = 0;

  // Of a text whose language and tokenizer are not known; docs/models.md states the error.
  std::uint64_t (*estimate_tokens)(std::uint64_t bytes) = nullptr;
  // Whether a provider's figure is taken in the place of an estimate.
  bool (*is_believable)(std::uint64_t reported, std::uint64_t estimate) = nullptr;
  // A text that only points at an earlier one is no output where there is an earlier one.
  bool (*refers_back)(const Content& text) = nullptr;

  // The estimate of a request's input may be too low by this factor: a price tier above that much
  // of it may be the one that is paid.
  std::uint64_t input_estimate_factor = 0;
  // Output set aside for a call whose outcome may be lost, where no budget asks for more.
  std::uint64_t reserved_output_tokens = 0;
  // A reply with less room than this is not worth asking for.
  std::uint64_t output_tokens_min = 0;
  std::uint64_t summary_tokens = 0;
  // A cut that frees less than this part of the context, or fewer entries, is not worth a summary.
  std::uint64_t worth_while_divisor = 0;
  std::uint64_t removed_min = 0;
  // Attempts of one step that were skipped after recent failures count for no limit: with so many
  // the step fails all the same.
  std::uint32_t attempts_with_skips_max = 0;
  // A tenant's full window is asked again no sooner and no later than this.
  std::uint64_t tenant_wait_min_ms = 0;
  std::uint64_t tenant_wait_max_ms = 0;
  // A final answer that does not fit its schema is asked for again this often.
  std::uint32_t output_repairs_max = 0;
  // Attempts at one pure or idempotent call, those that a crash cut short included, before a
  // timeout is told to the model.
  std::uint32_t tool_attempts_max = 0;
  // A reconcilable call that did not happen is run again so often; then a person looks at it.
  std::uint32_t reconciled_attempts_max = 0;
  // What follows a failed model call.
  NextMove (*next_move)(const RetryPolicy& policy, const ModelFailure& failure) = nullptr;
  // What is aborted by a run's end has so long to report.
  std::uint64_t ending_grace_ms = 0;
  // What people may be asked: a run does not bury them in questions. What would ask more is denied.
  std::size_t open_approvals_max = 0;
  // Within an hour from the first question, by the clock of the records.
  std::size_t questions_per_hour_max = 0;
  // Exactly the same call, in the same circumstances, is asked about until it was denied so often.
  std::uint32_t denials_of_same_max = 0;

  Sentences say;
};

// nullptr: this program does not know the number.
const Rules* find_rules(std::uint32_t semantics);
// Of a number that is known.
const Rules& rules_of(std::uint32_t semantics);
// Whether this program can go on with a run of this number; the error says what it knows.
Status check_semantics(std::uint32_t semantics);

// A sentence with a number in the place of its {}.
std::string with_number(std::string_view sentence, std::uint64_t number);
// The same with words.
std::string with_words(std::string_view sentence, std::string_view words);
// At most kWordsBytesMax bytes of it, in whole characters.
std::string in_few_words(std::string text);

// For tests: a program that knows one more number, while this lives.
class PlantedRules {
 public:
  explicit PlantedRules(const Rules& rules);
  ~PlantedRules();
  PlantedRules(const PlantedRules&) = delete;
  PlantedRules& operator=(const PlantedRules&) = delete;
};

}  // namespace pawl
