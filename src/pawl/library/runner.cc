#include "pawl/runner.h"

#include "pawl/adapter/asio/asio_loop.h"
#include "pawl/gate/approvals/approvals.h"
#include "pawl/library/runner_parts.h"
#include "pawl/run/command_events.h"
#include "pawl/service/service.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/tools/native_tool.h"

namespace pawl {

Runner::Runner(Ports ports) {
  std::shared_ptr<EpollLoop> own;
  if (!ports.loop) {
    own = std::make_shared<EpollLoop>();
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
  const Status fit = parts_->usable(agent);
  const auto tell = [parts = parts_.get(), run](const Status& resumed) {
    if (resumed) return;
    parts->loop->post([parts, run, resumed, still = std::weak_ptr(parts->alive)] {
      if (!still.expired()) parts->ended(run, resumed);
    });
  };
  if (!fit) return tell(fit);
  Service(*parts_->engine).resume(run, tell);
}

Status Runner::cancel(const RunId& run, std::string by, std::string reason) {
  return parts_->engine->feed(run, CancelRequested{std::move(by), std::move(reason)});
}

Status Runner::pause(const RunId& run, std::string by) {
  return parts_->engine->feed(run, PauseRequested{std::move(by)});
}

void Runner::send(const RunId& run, std::string text, std::string from,
                  std::function<void(Status)> done) {
  Service service(*parts_->engine);
  const auto event = service.message(run, std::move(text), std::move(from));
  if (event) return service.post(run, *event, std::move(done));
  parts_->loop->post([done = std::move(done), error = event.error()] { done(error); });
}

Status Runner::whisper(const RunId& run, std::string text, std::optional<InstanceId> instance) {
  return parts_->engine->whisper(run, instance, std::move(text));
}

Status Runner::command(const RunId& run, std::string name, std::string input,
                       std::optional<InstanceId> instance) {
  PAWL_TRY(CommandGiven event, command_event(std::move(name), std::move(input), instance, "host"));
  Engine& engine = *parts_->engine;
  if (engine.find(run) != nullptr) return engine.feed(run, std::move(event));
  PAWL_ASSERT(parts_->own_loop != nullptr);
  const auto decided = std::make_shared<std::optional<Status>>();
  const auto begin = [&] {
    const auto done = [decided](const Status& said) { *decided = said; };
    const Status begun = engine.decide(run, done, std::move(event));
    if (!begun) *decided = begun;
  };
  if (!parts_->block(begin, [&decided] { return decided->has_value(); })) {
    return Error{ErrorCode::conflict, std::string(kBlockingTwice)};
  }
  return **decided;
}

pawl::Result<std::vector<PendingApproval>> Runner::approvals(const RunId& run) {
  JournalReader& reader = *parts_->engine->store().reader;
  PAWL_TRY(const LoadedRun loaded, load_run(reader, run, UseSnapshot::yes));
  return pending_approvals(reader, loaded.run.state());
}

Status Runner::decide(const RunId& run, CallId call, Decided decided) {
  PAWL_ASSERT(parts_->own_loop != nullptr);
  const auto durable = std::make_shared<std::optional<Status>>();
  const auto begin = [&] {
    parts_->desk->decide(run, call, std::move(decided),
                         [durable](const Status& said) { *durable = said; });
  };
  if (!parts_->block(begin, [&durable] { return durable->has_value(); })) {
    return Error{ErrorCode::conflict, std::string(kBlockingTwice)};
  }
  return **durable;
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
  if (made) return *std::move(made);
  parts_->refused_tool = made.error().message;
  return nullptr;
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

Store Runner::store() {
  return parts_->engine->store();
}

}  // namespace pawl
