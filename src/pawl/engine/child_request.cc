// What a run is started with that a call of another one starts.
#include "pawl/engine/child_runs.h"
#include "pawl/engine/guarded_store.h"
#include "pawl/json.h"
#include "pawl/kernel/agent_tree.h"
#include "pawl/run/agent/agent_check.h"

namespace pawl {
namespace {

// What it is to do, and as which agent.
struct ChildTask {
  AgentText agent;
  std::string input;
};

Result<std::vector<AgentText>> texts_of(JournalReader& reader, const RunStarted& parent) {
  std::vector<AgentText> all;
  for (const AgentSpec& spec : parent.agents) {
    PAWL_TRY(std::string text, resolve(reader, parent.run, spec.charter));
    all.push_back({spec, std::move(text)});
  }
  return all;
}

Result<std::string> input_of(const std::string& json) {
  PAWL_TRY(const Json value, parse_json(json));
  const JsonObject* object = value.if_object();
  const Json* input = object == nullptr ? nullptr : object->find("input");
  const std::string* text = input == nullptr ? nullptr : input->if_string();
  if (text == nullptr) return Error{ErrorCode::invalid_argument, "\"input\" is missing"};
  return *text;
}

Result<ChildTask> task_of(const std::vector<AgentText>& agents, const std::string& name,
                          const std::string& json) {
  const auto agent =
      std::ranges::find(agents, name, [](const AgentText& one) { return one.spec.name; });
  if (agent == agents.end()) return Error{ErrorCode::not_found, "there is no agent " + name};
  PAWL_TRY(std::string input, input_of(json));
  return ChildTask{*agent, std::move(input)};
}

ChildTask made_up(AdhocCharter charter, const RunStarted& parent) {
  ChildTask task;
  task.agent.spec.directory = parent.directory;
  task.agent.spec.limits = charter.limits;
  task.agent.text = std::move(charter.text);
  task.input = std::move(charter.prompt);
  return task;
}

// Policies and files are those that its parent began with.
Result<PinnedCharter> pinned_for(JournalReader& reader, const RunStarted& parent,
                                 const AgentText& agent, const std::string& name) {
  PinnedCharter pinned = {name, agent.text, sha256(agent.text), agent.spec.directory, ""};
  for (const AcceptedPolicy& policy : parent.policies) {
    PAWL_TRY(std::string source, resolve(reader, parent.run, policy.source));
    pinned.policies.push_back({policy.file, std::move(source)});
  }
  pinned.files = parent.files;
  pinned.file_sessions = parent.file_sessions;
  return pinned;
}

void set_limits(Charter& charter, const Limits& entry, const RunState& parent) {
  charter.limits = limits_beside(with_budget(charter.limits, charter.spending), entry);
  charter.spending.cost_pico = charter.limits.cost_pico;
  charter.spending.ask_cost_pico = charter.limits.ask_cost_pico;
  charter.limits.tokens = std::min(charter.limits.tokens, tokens_for_child(parent));
}

// A phase of the parent's flow may bound the run that carries it out.
Limits limits_of(const AgentSpec& agent, const RunState& parent, CallId id) {
  Limits limits = agent.limits;
  const Call* call = find_call(parent, id);
  const Instance* instance = call == nullptr ? nullptr : find_instance(parent, call->instance);
  if (instance == nullptr || !is_agent_seat(parent, *instance)) return limits;
  const std::uint64_t steps = parent.flow.specs[instance->seat->phase].steps;
  if (steps == 0) return limits;
  const bool said = limits.steps != Limits{}.steps;
  limits.steps = said ? std::min(limits.steps, steps) : steps;
  return limits;
}

// One ledger has one currency, and knows its prices.
Status check_money(const PreparedAgent& agent, const RunState& parent) {
  if (parent.limits.cost_pico == 0 && parent.limits.ask_cost_pico == 0) return ok();
  if (const auto fault = check_priced(agent, parent.limits)) return fault->error;
  const std::string currency = targets_of(agent).front().prices.currency;
  if (currency == parent.prices.currency) return ok();
  return Error{ErrorCode::invalid_argument,
               "its model is paid in " + currency + ", and this run in " + parent.prices.currency};
}

std::shared_ptr<const InvocationContext> context_of(const RunStarted& parent) {
  return InvocationContextBuilder()
      .tenant(parent.tenant)
      .identity(parent.identity)
      .started_by(parent.started_by)
      .session_id(parent.session_id)
      .trace_parent(parent.trace_parent)
      .build();
}

}  // namespace

Result<StartRequest> Engine::child_request(const RunId& parent, CallId call,
                                           const std::string& json,
                                           const AdhocCharters& charters) const {
  JournalReader& reader = *options_.store.reader;
  const Run* run = find(parent);
  PAWL_ASSERT(run != nullptr);
  const RunState& state = run->state();
  const ChildRun* child = find_child(state, call);
  PAWL_ASSERT(child != nullptr);
  if (!options_.agents) {
    return Error{ErrorCode::invalid_argument, "this host has no source of agents"};
  }
  PAWL_TRY(const Record first, read_record(reader, parent, 0));
  const auto& started = std::get<RunStarted>(first.event);
  PAWL_TRY(const std::vector<AgentText> agents, texts_of(reader, started));
  ChildTask task;
  if (charters) {
    PAWL_TRY(AdhocCharter charter, charters(json));
    task = made_up(std::move(charter), started);
  } else {
    PAWL_TRY(task, task_of(agents, child->agent, json));
  }
  PAWL_TRY(const PinnedCharter pinned, pinned_for(reader, started, task.agent, child->agent));
  StartRequest request;
  PAWL_TRY(request.agent, guarded("the agent", [&] { return options_.agents(pinned); }));
  PreparedAgent& agent = request.agent;
  agent.policies = pinned.policies;
  agent.files = pinned.files;
  if (agent.release || pinned.file_sessions == Presence::present) {
    agent.file_sessions = Presence::present;
  }
  set_limits(agent.charter, limits_of(task.agent.spec, state, call), state);
  PAWL_CHECK(check_money(agent, state));
  request.id = child->run;
  request.input = std::move(task.input);
  request.context = context_of(started);
  Descent& descent = request.descent.emplace();
  descent.lineage = state.lineage;
  descent.lineage.push_back(as_ancestor(state, call));
  descent.agents = agents_beneath(agents, child->agent);
  descent.asks_parent = is_asked_by_children(state);
  descent.started_by = started.started_by;
  return request;
}

}  // namespace pawl
