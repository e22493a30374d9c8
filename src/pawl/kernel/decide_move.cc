// An instance leaves what it does: for another node, for its parent, or until it is resumed.
#include "pawl/base/schema.h"
#include "pawl/kernel/decide_tree.h"

namespace pawl {
namespace {

// Nothing has been said that a new conversation could begin with.
Content opening_of(const Draft& draft, const Instance& instance, Content message) {
  if (!message.empty()) return message;
  if (!instance.last_words.empty()) return instance.last_words;
  return Content(std::string(draft.rules.say.begin));
}

void note_new_instructions(Draft& draft, InstanceId id) {
  const Instance& instance = draft.instance(id);
  const bool own =
      !instance.transcript.empty() && instance.transcript.back().kind == EntryKind::assistant;
  if (!own) return;
  const std::string text(draft.rules.say.entered);
  draft.add(NoteAdded{id, Note::entered, text, draft.rules.estimate_tokens(text.size())});
}

const NextSpec& next_of(const Draft& draft, const Instance& instance, const Leave& leave) {
  const NextSpec* next = find_next(node_of(draft.state, instance), leave.name);
  PAWL_ASSERT(next != nullptr);
  return *next;
}

void leave_for_node(Draft& draft, InstanceId id, const Leave& leave) {
  const Instance& instance = draft.instance(id);
  const NextSpec& next = next_of(draft, instance, leave);
  if (next.context != NextContext::summary) {
    return enter_node(draft, id, next, leave.state, leave.words, nullptr);
  }
  cancel_children(draft, id);
  draft.pause_where_undriven();
  if (draft.pausing()) return draft.add(InstanceReadied{id, 0});
  if (!sum_up_for_next(draft, draft.instance(id))) take_leaving_summary(draft, id, nullptr);
}

void suspend(Draft& draft, InstanceId id, const Leave& leave) {
  const std::string metadata = leave.words.bytes() == nullptr ? "" : *leave.words.bytes();
  const std::string of_call = to_string(leave.call.value_or(CallId{}));
  draft.add(InstanceSuspended{id, leave.suspend_id.empty() ? of_call : leave.suspend_id, leave.name,
                              metadata});
}

}  // namespace

std::string initial_state(const NodeSpec& node) {
  return node.state ? node.state->initial : "";
}

std::string fault_of_state(const std::optional<StateSpec>& spec, std::string_view json) {
  if (!spec) return json.empty() ? "" : "it has no state";
  if (json.empty()) return "it needs a state";
  if (json.size() > kStateBytesMax) return "it is too long";
  const auto value = parse_json(json);
  if (!value) return value.error().message;
  if (spec->schema.empty()) return "";
  const auto schema_json = parse_json(spec->schema);
  if (!schema_json) return schema_json.error().message;
  const auto schema = Schema::compile(*schema_json);
  if (!schema) return schema.error().message;
  const auto faults = schema->validate(*value);
  return faults.empty() ? "" : describe(faults);
}

void take_leave(Draft& draft, InstanceId id) {
  const Instance& instance = draft.instance(id);
  PAWL_ASSERT(instance.leave.has_value());
  const Leave leave = *instance.leave;
  const bool answered = leave.by == LeaveBy::command && has_calls(draft.state, id);
  if (leave.kind == LeaveKind::suspend) {
    if (answered) draft.add(ResultsTaken{id});
    return suspend(draft, id, leave);
  }
  if (std::holds_alternative<AwaitingTools>(instance.phase) || has_calls(draft.state, id)) {
    draft.add(ResultsTaken{id});
  }
  if (leave.kind == LeaveKind::transition) return leave_for_node(draft, id, leave);
  // A message that was accepted is answered first; what a command has decided is so.
  const bool answers = leave.by == LeaveBy::reply && has_news(instance);
  if (answers) return begin_step(draft, instance);
  end_instance(draft, id, EndedHow::ceded, leave.words);
}

void enter_node(Draft& draft, InstanceId id, const NextSpec& next, std::string state,
                Content message, const Content* summary) {
  cancel_children(draft, id);
  const Instance& instance = draft.instance(id);
  const NodeSpec* node = find_node(draft.state.nodes, next.to);
  PAWL_ASSERT(node != nullptr);
  NodeEntered entered{id, next.name, next.to, next.context, std::move(state), {}, 0, 0};
  if (next.context == NextContext::summary && summary == nullptr) {
    entered.context = NextContext::fresh;  // Nobody has written one.
  }
  if (entered.context == NextContext::keep) {
    const std::uint64_t before = base_tokens_of(draft.state, instance);
    const std::uint64_t said = instance.context_tokens - std::min(instance.context_tokens, before);
    entered.context_tokens = add_saturating(node->base_tokens, said);
  } else {
    if (entered.context == NextContext::fresh) {
      entered.opening = opening_of(draft, instance, std::move(message));
    }
    const Content& first = summary == nullptr ? entered.opening : *summary;
    entered.tokens = draft.rules.estimate_tokens(first.length());
    entered.context_tokens = add_saturating(node->base_tokens, entered.tokens);
  }
  draft.add(std::move(entered));
  note_new_instructions(draft, id);
  begin_instance(draft, id);
}

void take_leaving_summary(Draft& draft, InstanceId id, const Content* summary) {
  const Instance& instance = draft.instance(id);
  PAWL_ASSERT(instance.leave.has_value());
  const Leave leave = *instance.leave;
  const NextSpec next = next_of(draft, instance, leave);
  enter_node(draft, id, next, leave.state, leave.words, summary);
}

}  // namespace pawl
