#include "pawl/kernel/events.h"

#include <set>

#include "pawl/kernel/random_value_test.h"

namespace pawl::testing {
namespace {

template <class V>
std::vector<std::string> names_of_all() {
  Rng rng(1);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::variant_size_v<V>; ++i) {
    V value;
    RandomValue(rng).fill_as(value, i);
    names.emplace_back(name(value));
  }
  return names;
}

bool is_snake_case(const std::string& text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == text.npos;
}

TEST_CASE("events, decisions and effects have names in snake case, all different") {
  std::set<std::string> seen;
  std::size_t count = 0;
  for (const auto& names :
       {names_of_all<Event>(), names_of_all<Decision>(), names_of_all<Effect>()}) {
    for (const std::string& one : names) {
      CHECK_MESSAGE(is_snake_case(one), one);
      seen.insert(one);
      ++count;
    }
  }
  CHECK(seen.size() == count);
}

TEST_CASE("the numbers of events in journals never change") {
  CHECK(names_of_all<Event>() ==
        Names{"run_started",      "driver_attached",  "agent_began",          "model_replied",
              "model_failed",     "model_aborted",    "tool_finished",        "tool_status_learned",
              "doubt_resolved",   "message_received", "pause_requested",      "resume_requested",
              "cancel_requested", "timer_fired",      "hook_failed",          "hook_stopped",
              "instance_spawned", "instance_resumed", "external_turn_pushed", "run_waiting",
              "run_finished",     "result_came_late", "context_compacted",    "compaction_failed",
              "budget_raised",    "call_judged",      "call_decided",         "run_reopened",
              "state_set",        "child_asked",      "child_reported",       "child_waits",
              "child_stirred",    "parent_answered",  "phase_controlled",     "event_received",
              "command_given",    "unrecognised"});
}

TEST_CASE("an event about an instance says which; all others are about the run") {
  CHECK(instance_of(MessageReceived{InstanceId{4}, {}, ""}) == InstanceId{4});
  CHECK(instance_of(PauseRequested{}) == kRootInstance);
  CHECK(instance_of(InstanceSpawned{InstanceId{3}, "", {}}) == kRootInstance);
}

TEST_CASE("only what people and other runs may say comes through the inbox") {
  std::string accepted;
  Rng rng(1);
  for (std::size_t i = 0; i < std::variant_size_v<Event>; ++i) {
    const Event event = random_record(rng, i).event;
    if (inbox_rank(event) != InboxRank::refused) accepted += std::string(name(event)) + " ";
  }
  CHECK(accepted ==
        "doubt_resolved message_received pause_requested resume_requested cancel_requested "
        "instance_resumed external_turn_pushed budget_raised call_decided state_set "
        "child_asked child_reported parent_answered phase_controlled event_received "
        "command_given ");
}

}  // namespace
}  // namespace pawl::testing
