// An executor whose calls end when the test says so, and a watcher of phases.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pawl/executor.h"
#include "tests/support/test_loop.h"

namespace pawl {

class FakeExecutor final : public Executor {
 public:
  struct Call {
    PhaseExecutionRequest request;
    PhaseEventSink sink;
    enum class State { open, aborted, dropped, ended } state = State::open;
  };

  explicit FakeExecutor(Loop& loop, std::vector<std::string> models = {"x"}) : loop_(loop) {
    capabilities_.supports_conversation_replay = true;
    capabilities_.supports_thinking = true;
    for (std::string& id : models) {
      ExecutorModelDescriptor& model = models_.emplace_back();
      model.id = std::move(id);
      model.context_tokens = 1'000;
      model.prices = {"USD", 2, 3, 1, 4};
      model.thinking = ExecutorModelDescriptor::Support::yes;
    }
  }

  const ExecutorCapabilities& capabilities() const override { return capabilities_; }
  std::vector<ExecutorModelDescriptor> list_models() const override { return models_; }
  bool supports(std::string_view model) const override {
    return model.starts_with("any-") ||
           std::any_of(models_.begin(), models_.end(),
                       [model](const auto& one) { return one.id == model; });
  }
  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override {
    if (throws) throw std::runtime_error("boom");
    auto call = std::make_shared<Call>(Call{request, std::move(sink)});
    calls.push_back(call);
    most_together = std::max(most_together, under_way());
    return std::make_unique<Held>(*this, call);
  }
  std::optional<std::uint64_t> calculate_cost(const std::string& tenant, std::string_view,
                                              const Usage& usage) const override {
    const auto discount = own_prices.find(tenant);
    if (discount == own_prices.end()) return std::nullopt;
    return discount->second * total_tokens(usage);
  }
  ExecutorHealth health() const override { return health_; }
  std::optional<McpServerConfig> mcp_server() const override { return server; }
  std::unique_ptr<Operation> test_connection(std::function<void(Status)> done) override {
    ++probes;
    if (answers_probes)
      loop_.post([done = std::move(done), result = probe_result] { done(result); });
    return nullptr;
  }

  void set_models(std::vector<ExecutorModelDescriptor> models) { models_ = std::move(models); }

  // Ends a call with `usage` and `outcome`, from the loop.
  void end(std::size_t index, PhaseDone done, Usage usage = {10, 5, 0, 0}) {
    loop_.post([call = calls.at(index), done = std::move(done), usage] {
      if (call->state == Call::State::dropped || call->state == Call::State::ended) return;
      call->sink(UsageReported{usage});
      if (call->state == Call::State::dropped) return;
      call->state = Call::State::ended;
      call->sink(done);
    });
  }
  void reply(std::size_t index) {
    PhaseReplied replied;
    replied.model = calls.at(index)->request.model;
    end(index, {replied});
  }
  void fail(std::size_t index, FailureKind kind,
            std::optional<std::uint64_t> retry_after_ms = std::nullopt) {
    PhaseFailed failed;
    failed.kind = kind;
    failed.message = "no";
    failed.retry_after_ms = retry_after_ms;
    end(index, {failed}, {});
  }
  std::size_t under_way() const {
    return static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [](const auto& call) {
      return call->state == Call::State::open || call->state == Call::State::aborted;
    }));
  }

  std::vector<std::shared_ptr<Call>> calls;
  std::size_t most_together = 0;
  int probes = 0;
  bool throws = false;
  bool answers_probes = true;
  Status probe_result = ok();
  std::map<std::string, std::uint64_t> own_prices;  // by tenant, of a token
  ExecutorCapabilities capabilities_;
  ExecutorHealth health_;
  std::optional<McpServerConfig> server;

 private:
  class Held final : public Operation {
   public:
    Held(FakeExecutor& owner, std::shared_ptr<Call> call) : owner_(owner), call_(std::move(call)) {}
    ~Held() override {
      if (call_->state != Call::State::ended) call_->state = Call::State::dropped;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    void abort() override {
      if (call_->state != Call::State::open) return;
      call_->state = Call::State::aborted;
      const auto at = std::find(owner_.calls.begin(), owner_.calls.end(), call_);
      owner_.end(static_cast<std::size_t>(at - owner_.calls.begin()), {PhaseAborted{}});
    }

   private:
    FakeExecutor& owner_;
    std::shared_ptr<Call> call_;
  };

  Loop& loop_;
  std::vector<ExecutorModelDescriptor> models_;
};

// A phase of an executor and what it reported.
struct WatchedPhase {
  WatchedPhase(Executor& executor, const std::string& model, const std::string& run = "r1") {
    PhaseExecutionRequest request;
    request.run = RunId{run};
    request.model = model;
    request.system_prompt = "Be brief.";
    request.tenant = "acme";
    operation = executor.execute_phase(
        request, [this](PhaseExecutorEvent event) { events.push_back(std::move(event)); });
    said_inside = !events.empty();
  }
  WatchedPhase(const WatchedPhase&) = delete;
  WatchedPhase& operator=(const WatchedPhase&) = delete;

  const PhaseDone* done() const {
    return events.empty() ? nullptr : std::get_if<PhaseDone>(&events.back());
  }
  const PhaseFailed* failed() const {
    return done() == nullptr ? nullptr : std::get_if<PhaseFailed>(&done()->outcome);
  }
  const PhaseReplied* replied() const {
    return done() == nullptr ? nullptr : std::get_if<PhaseReplied>(&done()->outcome);
  }
  bool aborted() const {
    return done() != nullptr && std::holds_alternative<PhaseAborted>(done()->outcome);
  }
  Usage usage() const {
    Usage last;
    for (const auto& event : events) {
      if (const auto* reported = std::get_if<UsageReported>(&event)) last = reported->usage;
    }
    return last;
  }
  std::size_t usages() const {
    return static_cast<std::size_t>(std::count_if(
        events.begin(), events.end(),
        [](const auto& event) { return std::holds_alternative<UsageReported>(event); }));
  }

  std::vector<PhaseExecutorEvent> events;
  bool said_inside = false;
  std::unique_ptr<Operation> operation;
};

}  // namespace pawl
