#include "pawl/app/library/runner.h"

#include <deque>
#include <map>

#include "pawl/adapter/executor_scripted/executor_scripted.h"
#include "pawl/adapter/journal_memory/journal_memory.h"
#include "pawl/runtime/asio_loop.h"

namespace pawl {
namespace {

// Runs that are over and still kept by a runner without a store: its memory is bounded too.
constexpr std::size_t kRunsOverMax = 64;

}  // namespace

struct Runner::Parts {
  std::shared_ptr<AsioLoop> own_loop;  // only when run() may be called
  std::shared_ptr<Loop> loop;
  std::shared_ptr<void> store_owner;
  std::shared_ptr<WorkerPool> pool = std::make_shared<WorkerPool>();
  std::map<std::string, RunnableAgent> agents;  // by charter name, for resume
  std::map<RunId, Finished> waiting;
  std::shared_ptr<MemoryJournal> own_store;  // only when the host brought none
  std::deque<RunId> over;                    // of its runs, oldest first
  std::unique_ptr<Engine> engine;
  std::unique_ptr<PermissionDesk> desk;
  std::shared_ptr<void> subscription;

  explicit Parts(Ports ports) {
    loop = ports.loop;
    store_owner = ports.store_owner;
    Store store = ports.store;
    if (store.journal == nullptr) {
      const auto memory = std::make_shared<MemoryJournal>(*loop);
      store = {memory.get(), memory.get(), memory.get(), memory.get()};
      store_owner = memory;
      own_store = memory;
    }
    const AgentSource source = [this](const PinnedCharter& pinned) { return agent_of(pinned); };
    engine = std::make_unique<Engine>(
        EngineOptions{*loop, store, std::move(ports.callbacks), source, "library"});
    desk = std::make_unique<PermissionDesk>(*engine, std::move(ports.permissions));
    if (ports.events) subscription = engine->subscribe(std::move(ports.events));
    engine->on_ended([this](const RunId& run, const Status& status) { ended(run, status); });
  }

  pawl::Result<RunnableAgent> agent_of(const PinnedCharter& pinned) const {
    const auto found = agents.find(pinned.name);
    if (found == agents.end()) {
      return Error{ErrorCode::not_found, "no agent called " + pinned.name + " was given"};
    }
    return found->second;
  }

  Result result_of(const RunId& run, const Status& status) const {
    Result result;
    result.run_id = run;
    if (!status) {
      result.error = status.error().message;
      return result;
    }
    JournalReader& reader = *engine->store().reader;
    const auto loaded = load_run(reader, run, UseSnapshot::yes);
    if (!loaded) {
      result.error = loaded.error().message;
      return result;
    }
    const RunState& state = loaded->run.state();
    if (const auto text = output_text(reader, state)) result.output = *text;
    result.steps = state.tally.steps;
    result.usage = state.tally.usage;
    result.status = status_of(state);
    const bool waits = result.status == RunStatus::waiting;
    result.stop_reason = waits ? name(waits_for(state)) : name(stop_reason_of(state));
    if (result.status != RunStatus::done) result.error = why(state, result);
    return result;
  }

  static std::string why(const RunState& state, const Result& result) {
    std::string text = std::string(name(result.status)) + ": " + result.stop_reason;
    const Ending* ending = std::get_if<Ending>(&state.course);
    if (ending != nullptr && !ending->detail.empty()) text += " (" + ending->detail + ")";
    return text;
  }

  void ended(const RunId& run, const Status& status) {
    const auto found = waiting.find(run);
    if (found == waiting.end()) return;
    const auto failed = [this, run](const Status& why) { ended(run, why); };
    if (status && desk->ask(run, failed)) return;  // It goes on when the host has answered.
    if (status && engine->wakes(run)) return;      // It goes on by itself.
    const Finished finished = std::move(found->second);
    waiting.erase(found);
    const Result result = result_of(run, status);
    if (own_store && result.status != RunStatus::waiting) forget_later(run);
    finished(result);
  }

  void forget_later(const RunId& run) {
    over.push_back(run);
    if (over.size() <= kRunsOverMax) return;
    own_store->remove(over.front(), [](const Status&) {});  // one that is not there is as well gone
    over.pop_front();
  }

  RunnableAgent prepared(RunnableAgent agent) {
    if (agent.charter.model.empty() && agent.executor) {
      const auto models = agent.executor->list_models();
      if (!models.empty()) agent.charter.model = models.front().id;
    }
    agents[agent.charter.name] = agent;
    return agent;
  }

  // `finished` gets the reason when the run is not even accepted.
  RunId start(const RunnableAgent& agent, std::string input,
              std::shared_ptr<const InvocationContext> context, Finished finished) {
    StartRequest request{prepared(agent), std::move(input), make_run_id(loop->wall_ms()),
                         std::move(context)};
    const RunId id = *request.id;
    waiting[id] = std::move(finished);
    engine->start(std::move(request), [this, id](const pawl::Result<RunId>& accepted) {
      if (!accepted) ended(id, accepted.error());
    });
    return id;
  }

  Result wait_for(const std::function<void(Finished)>& begin) {
    PAWL_ASSERT(own_loop != nullptr);  // on a host's loop only the asynchronous calls make sense
    std::optional<Result> result;
    begin([&result](Result value) { result = std::move(value); });
    own_loop->run_until([&result] { return result.has_value(); });
    PAWL_ASSERT(result.has_value());
    return *std::move(result);
  }
};

Runner::Runner(Ports ports) {
  std::shared_ptr<AsioLoop> own;
  if (!ports.loop) {
    own = std::make_shared<AsioLoop>();
    ports.loop = own;
  }
  parts_ = std::make_unique<Parts>(std::move(ports));
  parts_->own_loop = std::move(own);
}

Runner::Runner(boost::asio::io_context& host, Ports ports) {
  ports.loop = std::make_shared<AsioLoop>(host);
  parts_ = std::make_unique<Parts>(std::move(ports));
}

Runner::~Runner() = default;
Runner::Runner(Runner&&) noexcept = default;
Runner& Runner::operator=(Runner&&) noexcept = default;

Runner::Result Runner::run(const RunnableAgent& agent, std::string input,
                           std::shared_ptr<const InvocationContext> context) {
  return parts_->wait_for([&](Finished finished) {
    parts_->start(agent, std::move(input), std::move(context), std::move(finished));
  });
}

void Runner::start(const RunnableAgent& agent, std::string input, Finished finished,
                   std::shared_ptr<const InvocationContext> context) {
  parts_->start(agent, std::move(input), std::move(context), std::move(finished));
}

Runner::Result Runner::resume(const RunnableAgent& agent, const RunId& run) {
  return parts_->wait_for([&](Finished finished) { resume(agent, run, std::move(finished)); });
}

void Runner::resume(const RunnableAgent& agent, const RunId& run, Finished finished) {
  parts_->prepared(agent);
  parts_->waiting[run] = std::move(finished);
  const Status resumed = parts_->engine->resume(run);
  if (resumed) return;
  parts_->loop->post([parts = parts_.get(), run, resumed] { parts->ended(run, resumed); });
}

Status Runner::feed(const RunId& run, Event event) {
  return parts_->engine->feed(run, std::move(event));
}

pawl::Result<std::vector<PendingApproval>> Runner::approvals(const RunId& run) {
  JournalReader& reader = *parts_->engine->store().reader;
  PAWL_TRY(const LoadedRun loaded, load_run(reader, run, UseSnapshot::yes));
  return pending_approvals(reader, loaded.run.state());
}

Status Runner::decide(const RunId& run, CallId call, Decided decided) {
  PAWL_ASSERT(parts_->own_loop != nullptr);
  std::optional<Status> durable;
  parts_->desk->decide(run, call, std::move(decided), [&](const Status& said) { durable = said; });
  parts_->own_loop->run_until([&durable] { return durable.has_value(); });
  return *durable;
}

Status Runner::approve(const RunId& run, CallId call, std::string by) {
  return decide(run, call, {InterruptDecision::approve, std::move(by)});
}

Status Runner::deny(const RunId& run, CallId call, std::string by, std::string reason) {
  return decide(run, call, {InterruptDecision::reject, std::move(by), std::move(reason)});
}

Status Runner::answer(const RunId& run, CallId call, std::string by, std::string text) {
  return decide(run, call, {InterruptDecision::input, std::move(by), std::move(text)});
}

Status Runner::guard(RunnableAgent& agent, GatePolicy policy) {
  return pawl::guard(agent, std::move(policy), *parts_->loop);
}

std::shared_ptr<Tool> Runner::tool(NativeTool native) {
  auto made = make_native_tool(std::move(native), *parts_->loop, parts_->pool);
  PAWL_ASSERT(made.has_value());  // the host's own declaration: wrong here is wrong always
  return *std::move(made);
}

std::shared_ptr<Executor> Runner::scripted(Script script) {
  return make_scripted_executor(std::move(script), *parts_->loop);
}

Loop& Runner::loop() {
  return *parts_->loop;
}

SocketLoop* Runner::sockets() {
  return dynamic_cast<SocketLoop*>(parts_->loop.get());
}

Engine& Runner::engine() {
  return *parts_->engine;
}

// --- Steps -------------------------------------------------------------------------------------

// Follows the journal with its own fold, so that every step shows the tree exactly as it was.
struct Runner::Steps::Feed {
  Parts& parts;
  JournalWalker walker;
  std::shared_ptr<void> subscription;
  std::map<InstanceId, std::size_t> seen;  // transcript entries already shown
  std::vector<MachineStep> ready;
  bool news = true;
  bool ended = false;

  Feed(Parts& owner, const RunId& run) : parts(owner), walker(*owner.engine->store().reader, run) {
    subscription = parts.engine->subscribe([this](const RunEvent& event) {
      if (std::holds_alternative<std::shared_ptr<const RecordView>>(event)) news = true;
    });
  }

  void read() {
    news = false;
    // A run that is not durable yet is not there yet.
    const Status walked = walker.walk([this](const Record& record, const Run& run) {
      for (const Decision& decision : record.decisions) {
        if (const auto* step = std::get_if<StepEnded>(&decision)) take(*step, run.state());
      }
      return true;
    });
    if (!walked && walked.error().code != ErrorCode::not_found) ended = true;
  }

  void take(const StepEnded& ended_step, const RunState& state) {
    MachineStep step;
    step.number = ended_step.step;
    step.instance_id = ended_step.instance;
    step.instance = state.instances;
    step.yield_reason = ended_step.yield;
    step.done = std::holds_alternative<Ending>(state.course) || is_waiting(state);
    step.history = history(ended_step.instance, state);
    if (ended_step.yield == YieldReason::cede) step.cede_content = last_text(step.history);
    for (const Instance& instance : state.instances) {
      if (const Suspended* phase = std::get_if<Suspended>(&instance.phase)) {
        step.suspended_instances.push_back(
            {instance.id, phase->suspend_id, phase->reason, phase->metadata});
      }
    }
    ready.push_back(std::move(step));
  }

  std::vector<Message> history(InstanceId id, const RunState& state) {
    std::vector<Message> messages;
    const Instance* instance = find_instance(state, id);
    if (instance == nullptr) return messages;
    JournalReader& reader = *parts.engine->store().reader;
    for (std::size_t& i = seen[id]; i < instance->transcript.size(); ++i) {
      const auto record = read_record(reader, state.id, instance->transcript[i].seq);
      if (!record) continue;
      auto message = message_of(instance->transcript[i], *record);
      if (message) messages.push_back(*std::move(message));
    }
    return messages;
  }

  static std::optional<std::string> last_text(const std::vector<Message>& messages) {
    if (messages.empty()) return std::nullopt;
    std::string text;
    for (const Block& block : messages.back().blocks) {
      const TextBlock* one = std::get_if<TextBlock>(&block);
      if (one != nullptr && one->text.bytes() != nullptr) text += *one->text.bytes();
    }
    return text;
  }
};

Runner::Steps::Steps(Parts& parts, RunId run) : feed_(std::make_shared<Feed>(parts, run)) {}
Runner::Steps::~Steps() = default;
Runner::Steps::Steps(Steps&&) noexcept = default;

std::optional<MachineStep> Runner::Steps::next() {
  Feed& feed = *feed_;
  feed.parts.own_loop->run_until([&feed] {
    if (feed.ready.empty() && feed.news) feed.read();
    return !feed.ready.empty() || feed.ended;
  });
  if (feed.ready.empty()) return std::nullopt;
  MachineStep step = std::move(feed.ready.front());
  feed.ready.erase(feed.ready.begin());
  return step;
}

Runner::Steps Runner::steps(const RunnableAgent& agent, std::string input,
                            std::shared_ptr<const InvocationContext> context) {
  PAWL_ASSERT(parts_->own_loop != nullptr);
  Parts& parts = *parts_;
  auto ended = std::make_shared<std::function<void()>>();
  const RunId id = parts.start(agent, std::move(input), std::move(context), [ended](const Result&) {
    if (*ended) (*ended)();
  });
  Steps steps(parts, id);
  *ended = [weak = std::weak_ptr(steps.feed_)] {
    const auto feed = weak.lock();
    if (!feed) return;
    feed->read();
    feed->ended = true;
  };
  return steps;
}

}  // namespace pawl
