#include "pawl/engine/engine.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/charter/charter_vars.h"
#include "pawl/engine/child_runs.h"
#include "pawl/engine/guarded_store.h"
#include "pawl/filter/secrets/event_filter.h"
#include "pawl/journal/contents.h"
#include "pawl/json.h"
#include "pawl/kernel/rules.h"
#include "pawl/port/journal_checks.h"
#include "pawl/run/agent/agent_check.h"
#include "pawl/run/agent/invocation_record.h"
#include "pawl/run/model/model_compactor.h"

namespace pawl {
namespace {

// What a charter that was built in C++ pins in place of a document.
std::string text_of(const PreparedAgent& agent) {
  if (!agent.charter.text.empty()) return agent.charter.text;
  JsonWriter out;
  out.begin_object();
  out.field("name", agent.charter.name);
  out.field("instructions", agent.charter.instructions);
  out.field("model", agent.charter.model);
  out.key("tools").begin_array();
  for (const auto& tool : agent.tools) out.string(to_hex(definition_digest(tool->spec())));
  out.end_array();
  out.end_object();
  return out.take();
}

// What providers put before every conversation, and more when there are tools: by recorded traffic.
constexpr std::uint64_t kPreambleTokens = 100;
constexpr std::uint64_t kToolsPreambleTokens = 400;

// Of instructions and tools, which are part of every request.
std::uint64_t base_tokens(const DriverSetup& setup, const std::string& instructions) {
  std::uint64_t bytes = instructions.size() + setup.agent.project_docs.size();
  const std::vector<ToolSpec> tools = setup.tools.specs();
  for (const ToolSpec& tool : tools) {
    bytes += tool.name.size() + tool.description.size() + tool.input_schema.size();
  }
  return kPreambleTokens + (tools.empty() ? 0 : kToolsPreambleTokens) +
         rules_of(kSemantics).estimate_tokens(bytes);
}

// The instructions of a node, and those of the packs that it has.
Result<std::string> instructions_of(const CharterNode& node, const Charter& charter,
                                    const std::map<std::string, std::string>& variables) {
  PAWL_TRY(std::string text, render_text(node.instructions, charter, variables));
  for (const CharterPack& pack : charter.machine.packs) {
    const auto& names = node.spec.packs;
    const bool has = std::find(names.begin(), names.end(), pack.spec.name) != names.end();
    const bool told =
        node.spec.kind != NodeKind::worker || has_phase_of(charter.machine.phases, node.spec.name);
    if (!has || pack.instructions.empty() || !told) continue;
    PAWL_TRY(const std::string more, render_text(pack.instructions, charter, variables));
    text += (text.empty() ? "" : "\n\n") + more;
  }
  return text;
}

Result<std::map<std::string, NodeParts, std::less<>>> parts_of_nodes(
    const Charter& charter, const std::map<std::string, std::string>& variables,
    std::vector<std::optional<Schema>> schemas) {
  std::map<std::string, NodeParts, std::less<>> all;
  for (std::size_t i = 0; i < charter.machine.nodes.size(); ++i) {
    const CharterNode& node = charter.machine.nodes[i];
    NodeParts& parts = all[node.spec.name];
    PAWL_TRY(parts.instructions, instructions_of(node, charter, variables));
    parts.output_schema = node.output_schema;
    parts.schema = std::move(schemas.at(i));
    parts.sampling = node.sampling;
  }
  return all;
}

// What the kernel decides by, of a charter with nodes.
void pin_machine(const Charter& charter, const DriverSetup& setup, RunStarted& event) {
  for (const CharterNode& node : charter.machine.nodes) {
    NodeSpec& spec = event.nodes.emplace_back(node.spec);
    const NodeParts& parts = setup.nodes.at(spec.name);
    spec.definition = sha256(node.said);
    spec.base_tokens = base_tokens(setup, parts.instructions);
    spec.output_tokens = parts.sampling.max_output_tokens.value_or(0);
    spec.output_schema = parts.output_schema;
  }
  event.phases = charter.machine.phases;
  event.gate = charter.machine.gate;
  for (const CharterPack& pack : charter.machine.packs) event.packs.push_back(pack.spec);
}

// Its agents, pinned with their charters; and where it comes from.
void pin_agents(const StartRequest& request, const DriverSetup& setup,
                const std::vector<AgentText>& agents, RunStarted& event, Ingress& ingress) {
  for (const AgentText& agent : agents) {
    AgentSpec& spec = event.agents.emplace_back(agent.spec);
    spec.charter = ingress.keep(agent.text);
  }
  event.adhoc_agents = offers_adhoc(setup.agent);
  event.subagents = setup.agent.charter.machine.subagents;
  if (!request.descent) return;
  event.lineage = request.descent->lineage;
  event.asks_parent = request.descent->asks_parent;
}

RunStarted started_by(const StartRequest& request, const DriverSetup& setup,
                      const std::vector<AgentText>& agents, Ingress& ingress) {
  const Charter& charter = request.agent.charter;
  const InvocationContext& context = *request.context;
  const std::string text = text_of(request.agent);
  RunStarted event;
  event.run = *request.id;
  event.semantics = kSemantics;
  record_invocation(context, event);
  event.name = charter.name;
  event.charter_digest = sha256(text);
  event.charter = ingress.keep(text);
  event.directory = charter.directory;
  event.node = charter.node;
  event.model = charter.model;
  event.limits = with_budget(context.resource_limits().value_or(charter.limits), charter.spending);
  event.guards = charter.guards;
  event.retry = charter.retry;
  event.targets = targets_of(request.agent);
  event.prices = event.targets.front().prices;
  event.compaction = charter.compaction;
  event.output_tokens = charter.sampling.max_output_tokens.value_or(0);
  event.base_tokens = base_tokens(setup, setup.instructions);
  for (const PendingAttachment& one : request.attachments) {
    event.attachments.push_back({one.media_type, one.name, ingress.keep(one.bytes)});
  }
  event.tools = setup.tools.pinned();
  pin_machine(charter, setup, event);
  // The kernel puts them into the prompts of phases, and knows no defaults.
  std::map<std::string, std::string> variables = context.variables();
  if (!event.phases.empty()) variables.insert(charter.variables.begin(), charter.variables.end());
  for (const auto& [key, value] : variables) event.variables.push_back({key, value});
  for (const PriorMessage& message : context.history()) {
    event.history.push_back({message.speaker, ingress.keep(message.text)});
  }
  for (const PolicyText& policy : request.agent.policies) {
    event.policies.push_back({policy.file, ingress.keep(policy.source)});
  }
  event.project_docs = ingress.keep(request.agent.project_docs);
  event.files = request.agent.files;
  event.file_sessions = request.agent.file_sessions;
  event.approvers = charter.permissions.approvers;
  event.signers = charter.permissions.signers;
  std::string input = request.input;
  if (charter.processors) {
    Processing done = charter.processors->input.process(std::move(input), TextSource::run_input,
                                                        Destination::model);
    input = std::move(done.text);
    event.blocked = std::move(done.blocked);
  }
  const std::size_t readable = event.phases.empty() ? kInlineBytesMax : kFlowInputBytesMax;
  event.input = ingress.keep_readable(std::move(input), readable);
  pin_agents(request, setup, agents, event, ingress);
  return event;
}

// Before it is signed: a signature is over what is recorded.
void filter_start(const ByteFilter* filter, RunStarted& start, std::vector<StoredBlob>& blobs) {
  if (filter == nullptr) return;
  Event event(std::move(start));
  filter_event(*filter, Passage::first, event, blobs);
  start = std::get<RunStarted>(std::move(event));
}

}  // namespace

RunId make_run_id(std::int64_t wall_ms) {
  static constexpr char kDigits[] = "0123456789abcdefghjkmnpqrstvwxyz";
  constexpr int kTimeDigits = 9;
  constexpr int kRandomDigits = 11;
  std::array<std::uint8_t, kRandomDigits> noise{};
  PAWL_ASSERT(getrandom(noise.data(), noise.size(), 0) == static_cast<ssize_t>(noise.size()));
  std::string text;
  const auto time = static_cast<std::uint64_t>(wall_ms);
  for (int i = kTimeDigits - 1; i >= 0; --i) {
    text.push_back(kDigits[(time >> (5U * static_cast<unsigned>(i))) & 31U]);
  }
  for (const std::uint8_t byte : noise) text.push_back(kDigits[byte & 31U]);
  return RunId{text};
}

Engine::Engine(EngineOptions options)
    : options_(std::move(options)),
      guarded_(std::make_unique<GuardedStore>(options_.store)),
      children_(std::make_unique<ChildRuns>(*this)),
      memory_(std::make_shared<ConversationMemory>(options_.kept_bytes_max)) {
  options_.store = guarded_->parts();
}

Engine::~Engine() {
  *alive_ = false;
}

void Engine::on_ended(std::function<void(const RunId&, const Status&)> ended) {
  ended_ = std::move(ended);
}

std::shared_ptr<void> Engine::subscribe(RunEventSink sink) {
  const std::uint64_t id = ++sinks_made_;
  sinks_.emplace(id, std::move(sink));
  return std::shared_ptr<void>(nullptr, [this, id, alive = alive_](void*) {
    if (*alive) sinks_.erase(id);
  });
}

void Engine::publish(const RunEvent& event) {
  const auto sinks = sinks_;  // a sink may end its own subscription
  for (const auto& [id, sink] : sinks) {
    try {
      sink(event);
    } catch (...) {  // A watcher's bug is neither the run's nor the other watchers'.
    }
  }
}

Result<DriverSetup> Engine::setup_for(PreparedAgent agent,
                                      const std::map<std::string, std::string>& variables,
                                      const std::vector<AgentSpec>& agents, Presence adhoc) const {
  for (auto& tool : children_->tools_for(agents, adhoc, agent.adhoc)) {
    agent.tools.push_back(std::move(tool));
  }
  AgentParts parts;
  if (const auto fault = check_agent(agent, parts)) return fault->error;
  DriverSetup setup;
  setup.output_schema = std::move(parts.output_schema);
  if (!agent.compactor) {
    const std::string model = agent.compaction_targets.empty()
                                  ? agent.charter.compaction.model
                                  : agent.compaction_targets.front().literal;
    agent.compactor = make_model_compactor(agent.executor, model);
  }
  setup.tools = std::move(parts.tools);
  setup.mcp_servers = std::move(parts.mcp_servers);
  PAWL_TRY(setup.instructions, render_instructions(agent.charter, variables));
  PAWL_TRY(setup.nodes, parts_of_nodes(agent.charter, variables, std::move(parts.node_schemas)));
  setup.agent = std::move(agent);
  return setup;
}

std::shared_ptr<Driver> Engine::make_driver(DriverSetup setup, const RunId& id) {
  DriverServices services{options_.loop,
                          guarded_->for_drivers(),
                          options_.callbacks,
                          [this, alive = alive_](const RunEvent& event) {
                            if (*alive) publish(event);
                          },
                          [this, alive = alive_] { return *alive && !sinks_.empty(); },
                          options_.snapshot_bytes_min,
                          options_.filter,
                          memory_,
                          [this, alive = alive_](const RunId& from, const Effect& effect) {
                            if (*alive) children_->carry(from, effect);
                          }};
  auto driver = std::make_shared<Driver>(
      std::move(services), std::move(setup), [this, id, alive = alive_](const Status& status) {
        if (!*alive) return;
        if (status) wake_later(id);
        const auto ending = drivers_.find(id);
        const bool over = ending != drivers_.end() &&
                          std::holds_alternative<Finished>(ending->second->run()->life);
        if (over) lent_.erase(id);
        const std::shared_ptr<Driver> ended = ending == drivers_.end() ? nullptr : ending->second;
        drivers_.erase(id);
        const bool damaged = !status && status.error().code == ErrorCode::corrupt;
        if (damaged) (void)look_again(id);
        if (auto deciding = deciding_.extract(id)) return deciding.mapped()(status);
        if (!status || !has_mail(id)) return tell_ended(id, ended, status);
        take_up(id, [this, id, ended, status](const Status& taken) {
          if (!taken) tell_ended(id, ended, status);
        });
      });
  drivers_[id] = driver;
  if (!poll_timer_) {
    poll_timer_ = options_.loop.after(kInboxPollMs, [this] { poll(); });
  }
  return driver;
}

void Engine::tell_ended(const RunId& id, const std::shared_ptr<Driver>& ended,
                        const Status& status) {
  if (ended) children_->on_ended(id, ended->run().state(), status);
  if (!ended_) return;
  const auto before = std::exchange(leaving_, ended);
  ended_(id, status);
  leaving_ = before;
}

const Run* Engine::leaving(const RunId& run) const {
  return leaving_ && leaving_->run()->id == run ? &leaving_->run() : nullptr;
}

// What was posted between a driver's last look and the moment it let the run go was posted to a run
// that was driven: it is taken up here. Who posts later finds that nobody drives it.
bool Engine::has_mail(const RunId& id) const {
  if (options_.store.inbox == nullptr) return false;
  const auto rows = options_.store.inbox->pending(id);
  return rows && !rows->empty();
}

void Engine::start(StartRequest request, std::function<void(Result<RunId>)> accepted) {
  if (!request.context) request.context = InvocationContextBuilder().build();
  if (!request.id) request.id = make_run_id(options_.loop.wall_ms());
  const RunId id = *request.id;
  const auto refuse = [&](Error error) {
    options_.loop.post([accepted = std::move(accepted), error] { accepted(error); });
  };
  const std::vector<AgentText> agents =
      request.descent ? request.descent->agents : agents_of(request.agent.charter);
  auto setup = guarded("the agent", [&] {
    return setup_for(request.agent, request.context->variables(), specs_of(agents),
                     offers_adhoc(request.agent));
  });
  if (!setup) return refuse(setup.error());
  // Looked at first: asking to drive a run that is there would count against it.
  if (options_.store.reader->read(id, 0, 1)) {
    return refuse({ErrorCode::conflict, "there is a run " + id.text + " already"});
  }
  auto lease = options_.store.journal->acquire(id);
  if (!lease) return refuse(lease.error());
  if (lease->length > 0) {
    return refuse({ErrorCode::conflict, "there is a run " + id.text + " already"});
  }
  Ingress ingress;
  auto event = guarded("the agent", [&]() -> Result<RunStarted> {
    return started_by(request, *setup, agents, ingress);
  });
  if (!event) return refuse(event.error());
  filter_start(options_.filter.get(), *event, ingress.blobs());
  if (request.descent) {
    event->started_by = request.descent->started_by;  // who has proven it when the first one began
  } else if (const Status proven = prove_starter(*event, request.sign); !proven) {
    return refuse(proven.error());
  }
  // A bound that comes with the call, and not with the charter, binds as little.
  if (const auto fault = check_priced(request.agent, event->limits)) return refuse(fault->error);
  if (const Status fit = check_invocation(*event); !fit) return refuse(fit.error());
  if (!event->services.empty() && lent_.size() < kLentServicesMax) {
    lent_[id] = request.context->services();
  }
  if (options_.callbacks.watches_agents()) event->agent_callbacks = Presence::present;
  setup->context = request.context;
  setup->lease = *std::move(lease);
  const auto driver = make_driver(*std::move(setup), id);
  driver->begin(*std::move(event), ingress.take_blobs(),
                [id, accepted = std::move(accepted)](const Status& status) {
                  if (status) {
                    accepted(id);
                  } else {
                    accepted(status.error());
                  }
                });
}

Result<bool> Engine::is_start_of(const StartRequest& request) const {
  PAWL_TRY(const Record first, read_record(*options_.store.reader, *request.id, 0));
  const auto* there = std::get_if<RunStarted>(&first.event);
  if (there == nullptr) return false;
  const std::vector<AgentText> agents = agents_of(request.agent.charter);
  PAWL_TRY(const DriverSetup setup, guarded("the agent", [&] {
             return setup_for(request.agent, request.context->variables(), specs_of(agents),
                              offers_adhoc(request.agent));
           }));
  Ingress ingress;
  PAWL_TRY(RunStarted event, guarded("the agent", [&]() -> Result<RunStarted> {
             return started_by(request, setup, agents, ingress);
           }));
  filter_start(options_.filter.get(), event, ingress.blobs());
  return event.charter_digest == there->charter_digest && event.input == there->input &&
         event.variables == there->variables && event.attachments == there->attachments;
}

Result<DriverSetup> Engine::setup_of_pinned(const RunId& id) const {
  PAWL_TRY(const Record first, read_record(*options_.store.reader, id, 0));
  const RunStarted* started = std::get_if<RunStarted>(&first.event);
  if (started == nullptr) return Error{ErrorCode::corrupt, "its first record is not run_started"};
  return setup_of(*started, id);
}

Result<DriverSetup> Engine::setup_of(const RunStarted& started, const RunId& charter_of) const {
  if (!options_.agents) {
    return Error{ErrorCode::invalid_argument, "this host has no source of agents to resume with"};
  }
  PinnedCharter pinned;
  pinned.name = started.name;
  PAWL_TRY(pinned.text, resolve(*options_.store.reader, charter_of, started.charter));
  pinned.digest = started.charter_digest;
  pinned.directory = started.directory;
  pinned.model = started.model;
  for (const AcceptedPolicy& policy : started.policies) {
    PAWL_TRY(std::string source, resolve(*options_.store.reader, charter_of, policy.source));
    pinned.policies.push_back({policy.file, std::move(source)});
  }
  PAWL_TRY(pinned.project_docs, resolve(*options_.store.reader, charter_of, started.project_docs));
  pinned.files = started.files;
  pinned.file_sessions = started.file_sessions;
  PAWL_TRY(PreparedAgent agent, options_.agents(pinned));
  std::map<std::string, std::string> variables;
  for (const Variable& variable : started.variables) variables[variable.key] = variable.value;
  PAWL_TRY(DriverSetup setup,
           setup_for(std::move(agent), variables, started.agents, started.adhoc_agents));
  const auto lent = lent_.find(charter_of);
  PAWL_TRY(setup.context,
           recorded_invocation(started, charter_of, *options_.store.reader,
                               lent == lent_.end() ? nullptr : &lent->second, options_.services));
  return setup;
}

// A run that goes on by itself at a certain time is taken up again then, as long as this process
// lives; after that, whoever looks for such runs does it.
void Engine::wake_later(const RunId& id) {
  const auto driver = drivers_.find(id);
  if (driver == drivers_.end()) return;
  const auto due = wake_wall_at(driver->second->run().state());
  if (!due) return;
  Wake& wake = wakes_[id];
  wake.wait = waits_for(driver->second->run().state());
  wake.due_ms = *due;
  wake_when_due(id);
}

void Engine::wake_when_due(const RunId& id) {
  Wake& wake = wakes_[id];
  const std::int64_t delay =
      std::clamp<std::int64_t>(wake.due_ms - options_.loop.wall_ms(), 0, kWakeLookMs);
  wake.timer = options_.loop.after(delay, [this, id] {
    options_.loop.post([this, id, alive = alive_] {
      if (!*alive) return;
      const auto found = wakes_.find(id);
      if (found == wakes_.end()) return;
      if (options_.loop.wall_ms() < found->second.due_ms) return wake_when_due(id);
      wakes_.erase(found);
      take_up(id, [this, id](const Status& taken) {
        if (!taken && ended_) ended_(id, taken);
      });
    });
  });
}

bool Engine::wakes(const RunId& run) const {
  const auto found = wakes_.find(run);
  return found != wakes_.end() && found->second.wait == WaitFor::rate_limit;
}

void Engine::notice(const RunId& run) {
  const auto found = drivers_.find(run);
  if (found != drivers_.end()) std::shared_ptr<Driver>(found->second)->take_inbox();
}

Status Engine::feed(const RunId& run, Event event, std::vector<StoredBlob> blobs) {
  finish_taking_up(run);
  const auto found = drivers_.find(run);
  if (found == drivers_.end()) {
    return Error{ErrorCode::not_found, "run " + run.text + " is not driven here"};
  }
  return std::shared_ptr<Driver>(found->second)->feed(std::move(event), std::move(blobs));
}

Status Engine::whisper(const RunId& run, std::optional<InstanceId> instance, std::string text) {
  finish_taking_up(run);
  const auto found = drivers_.find(run);
  if (found == drivers_.end()) {
    return Error{ErrorCode::not_found, "run " + run.text + " is not driven here"};
  }
  return std::shared_ptr<Driver>(found->second)->whisper(instance, std::move(text));
}

const Run* Engine::find(const RunId& run) const {
  const auto found = drivers_.find(run);
  return found == drivers_.end() ? nullptr : &found->second->run();
}

bool Engine::is_idle() const {
  return live() == 0 && children_->under_way() == 0;
}

void Engine::poll() {
  poll_timer_.reset();
  if (drivers_.empty()) return;
  poll_timer_ = options_.loop.after(kInboxPollMs, [this] { poll(); });
  const auto version = options_.store.catalog->version();
  if (!version || *version == version_seen_) return;
  const auto addressed = options_.store.inbox->addressed();
  if (!addressed) return;  // It is asked again at the next poll.
  version_seen_ = *version;
  for (const RunId& run : *addressed) notice(run);
  children_->look();
}

}  // namespace pawl
