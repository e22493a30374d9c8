#include "pawl/kernel/decisions.h"

#include "pawl/kernel/random_value_test.h"

namespace pawl::testing {
namespace {

template <class V>
Names names_in_order() {
  Rng rng(1);
  Names names;
  for (std::size_t i = 0; i < std::variant_size_v<V>; ++i) {
    V value;
    RandomValue(rng).fill_as(value, i);
    names.emplace_back(name(value));
  }
  return names;
}

TEST_CASE("the numbers of decisions in journals never change") {
  CHECK(names_in_order<Decision>() ==
        Names{"step_began",         "step_ended",       "call_opened",        "call_refused",
              "call_in_doubt",      "call_unknown",     "call_held",          "results_taken",
              "attempt_discarded",  "retry_planned",    "note_added",         "messages_delivered",
              "instance_readied",   "instance_rested",  "instance_suspended", "turn_handed_out",
              "instance_born",      "instance_ceded",   "pause_began",        "pause_ended",
              "ending_began",       "ending_withdrawn", "call_retried",       "target_changed",
              "rate_limit_kept",    "budget_held",      "transcript_cut",     "call_permitted",
              "approval_asked",     "call_denied",      "answered_by_tool",   "content_measured",
              "session_lost",       "cost_added",       "limits_raised",      "call_answered",
              "leave_planned",      "node_entered",     "state_changed",      "state_proposed",
              "state_conflict",     "child_born",       "birth_put_off",      "instance_ended",
              "contents_delivered", "root_failed",      "output_ready",       "message_replaced",
              "child_admitted",     "child_answered",   "child_left",         "phase_began",
              "phase_ended",        "phases_reset",     "checkpoint_asked",   "seat_taken",
              "seat_left",          "step_discovered",  "flow_ended",         "work_item_set",
              "ending_held",        "step_given_up",    "suspension_lifted",  "message_added",
              "seat_called"});
}

TEST_CASE("the numbers of effects in journals never change") {
  CHECK(names_in_order<Effect>() == Names{"call_model", "run_tool", "ask_status", "abort_effect",
                                          "begin_agent", "end_agent", "compact_context",
                                          "judge_call", "ask_parent", "tell_parent", "answer_child",
                                          "steer_child"});
}

TEST_CASE("the note to wrap up asks for an answer, not for more of the same") {
  CHECK(rules_of(kSemantics).say.wrap_up.find("final answer") != std::string_view::npos);
}

}  // namespace
}  // namespace pawl::testing
