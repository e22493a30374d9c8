#include "pawl/models/routed_call.h"

#include <utility>

#include "pawl/base/thrown.h"

namespace pawl {

namespace {

// A sink of the host's that throws loses what it was told; the run goes on.
template <class Tell>
void tell(const Tell& told) {
  try {
    told();
  } catch (...) {  // The books of a host are not the run's.
  }
}

PhaseFailed failing(FailureKind kind, ErrorCategory category, std::string message) {
  PhaseFailed failed;
  failed.category = category;
  failed.kind = kind;
  failed.message = std::move(message);
  return failed;
}

// Work given to the loop and to the executor holds it weakly: once the Operation is gone, so is
// this.
class RoutedCall : public std::enable_shared_from_this<RoutedCall> {
 public:
  RoutedCall(Route route, PhaseExecutionRequest request, Prices prices, PhaseEventSink sink)
      : route_(std::move(route)),
        request_(std::move(request)),
        prices_(std::move(prices)),
        sink_(std::move(sink)),
        entry_(*route_.pool->find(route_.provider)),
        call_{request_.tenant, request_.run, request_.step, request_.attempt, request_.model} {}

  void begin() {
    entered_ms_ = now_ms();
    if (const std::uint64_t left_ms = open_ms(); left_ms > 0) return refuse_open(left_ms);
    const auto entered =
        entry_.gate->enter(request_.run.text, route_.model, later(&RoutedCall::go));
    ticket_ = entered.ticket;
    switch (entered.entry) {
      case FairGate::Entry::inside:
        return go();
      case FairGate::Entry::waiting:
        state_ = State::waiting;
        return;
      case FairGate::Entry::refused:
        return answer({failing(FailureKind::overloaded, ErrorCategory::quota_exceeded,
                               "too many calls wait for the provider " + route_.provider)});
    }
  }

  void abort() {
    if (state_ == State::running && inner_) return inner_->abort();
    if (state_ == State::answering) answer_ = {PhaseAborted{}};
    if (state_ != State::waiting) return;
    leave();
    answer({PhaseAborted{}});
  }

  void fall_silent() {
    if (state_ == State::running) report_usage();
    state_ = State::ended;
    inner_.reset();
    leave();
  }

 private:
  // `answering` is for an end that the loop has still to say, `ending` for one being said.
  enum class State : std::uint8_t { waiting, running, answering, ending, ended };

  std::int64_t now_ms() const { return route_.pool->loop().monotonic_ms(); }
  std::uint64_t open_ms() const {
    return route_.pool->breakers().open_ms(request_.model, now_ms());
  }
  std::function<void()> later(void (RoutedCall::*step)()) {
    return [weak = weak_from_this(), step] {
      if (const auto self = weak.lock()) (*self.*step)();
    };
  }

  // Its turn has come. The breaker of the target may have opened while it waited.
  void go() {
    if (state_ != State::waiting) return;
    if (const std::uint64_t left_ms = open_ms(); left_ms > 0) {
      leave();
      return refuse_open(left_ms);
    }
    state_ = State::running;
    started_ms_ = now_ms();
    tell([this] {
      if (trace() != nullptr) trace()->began(call_);
    });
    request_.model = route_.model;
    try {
      inner_ = entry_.provider.executor->execute_phase(
          request_, [weak = weak_from_this()](PhaseExecutorEvent event) {
            if (const auto self = weak.lock()) self->on_event(std::move(event));
          });
    } catch (...) {  // An executor of the host's: its bug becomes a failure of this call.
      finish({failing(FailureKind::permanent, ErrorCategory::kernel_internal,
                      "the executor failed: " + what_was_thrown())},
             When::later);
    }
  }

  void refuse_open(std::uint64_t left_ms) {
    PhaseFailed failed = failing(FailureKind::circuit_open, ErrorCategory::llm_error,
                                 call_.target + " failed too often and is left alone for " +
                                     std::to_string((left_ms + 999) / 1000) + " s");
    failed.retry_after_ms = left_ms;
    answer({std::move(failed)});
  }

  // Ends the phase from the loop, with a usage of nothing.
  void answer(PhaseDone done) {
    state_ = State::answering;
    answer_ = std::move(done);
    route_.pool->loop().post(later(&RoutedCall::say_answer));
  }

  void say_answer() {
    if (state_ == State::ended) return;
    state_ = State::ending;
    say_usage();
    if (state_ == State::ended) return;
    state_ = State::ended;
    sink_(std::move(answer_));
  }

  // The contract promises one before the end.
  void say_usage() {
    if (usage_said_) return;
    usage_said_ = true;
    sink_(UsageReported{usage_});
  }

  void on_event(PhaseExecutorEvent event) {
    if (state_ != State::running) return;
    if (auto* done = std::get_if<PhaseDone>(&event)) return finish(std::move(*done), When::now);
    if (const auto* reported = std::get_if<UsageReported>(&event)) {
      usage_ = reported->usage;
      usage_said_ = true;
    }
    sink_(std::move(event));
  }

  enum class When : std::uint8_t { now, later };
  void finish(PhaseDone done, When when) {
    learn(done);
    leave();
    report_usage();
    report_end(done);
    if (auto* replied = std::get_if<PhaseReplied>(&done.outcome)) {
      if (replied->model.empty()) replied->model = route_.model;
      const std::string prefix = route_.provider + "/";  // Some executors say it themselves.
      if (!replied->model.starts_with(prefix)) replied->model = prefix + replied->model;
    }
    if (when == When::later) return answer(std::move(done));
    answer_ = std::move(done);
    say_answer();
  }

  void learn(const PhaseDone& done) {
    CircuitBreakers& breakers = route_.pool->breakers();
    if (std::holds_alternative<PhaseReplied>(done.outcome)) return breakers.succeeded(call_.target);
    if (const auto* failed = std::get_if<PhaseFailed>(&done.outcome)) {
      breakers.failed(call_.target, *failed, started_ms_, now_ms());
    }
  }

  void leave() {
    if (ticket_ == 0) return;
    entry_.gate->leave(std::exchange(ticket_, 0));
  }

  TraceSink* trace() const { return route_.pool->sinks().trace.get(); }

  void report_usage() {
    UsageSink* books = route_.pool->sinks().usage.get();
    if (books == nullptr) return;
    tell([this, books] {
      const auto cost =
          entry_.provider.executor->calculate_cost(call_.tenant, route_.model, usage_);
      books->used({call_.tenant, call_.run, call_.target, usage_,
                   cost.value_or(cost_pico(usage_, prices_)), prices_.currency});
    });
  }

  void report_end(const PhaseDone& done) {
    if (trace() == nullptr) return;
    ModelCallEnd end;
    end.waited_ms = started_ms_ - entered_ms_;
    end.elapsed_ms = now_ms() - started_ms_;
    if (const auto* failed = std::get_if<PhaseFailed>(&done.outcome)) {
      end.outcome = ModelCallEnd::Outcome::failed;
      end.failure = name(failed->kind);
    } else if (std::holds_alternative<PhaseAborted>(done.outcome)) {
      end.outcome = ModelCallEnd::Outcome::aborted;
    }
    tell([this, &end] { trace()->ended(call_, end); });
  }

  Route route_;
  PhaseExecutionRequest request_;
  Prices prices_;
  PhaseEventSink sink_;
  const ModelPool::Entry entry_;  // a copy: it keeps the executor and the gate
  const ModelCall call_;
  State state_ = State::waiting;
  FairGate::Ticket ticket_ = 0;
  std::int64_t entered_ms_ = 0;
  std::int64_t started_ms_ = 0;
  Usage usage_;
  bool usage_said_ = false;
  PhaseDone answer_;
  std::unique_ptr<Operation> inner_;
};

class RoutedOperation final : public Operation {
 public:
  explicit RoutedOperation(std::shared_ptr<RoutedCall> call) : call_(std::move(call)) {}
  ~RoutedOperation() override { call_->fall_silent(); }
  RoutedOperation(const RoutedOperation&) = delete;
  RoutedOperation& operator=(const RoutedOperation&) = delete;
  RoutedOperation(RoutedOperation&&) = delete;
  RoutedOperation& operator=(RoutedOperation&&) = delete;

  void abort() override { call_->abort(); }

 private:
  std::shared_ptr<RoutedCall> call_;
};

// An outcome that is known before anything starts.
class AnsweredPhase final : public Operation {
 public:
  AnsweredPhase(Loop& loop, PhaseDone outcome, PhaseEventSink sink)
      : said_(std::make_shared<Said>(Said{std::move(outcome), std::move(sink)})) {
    loop.post([weak = std::weak_ptr(said_)] {
      const auto said = weak.lock();
      if (!said) return;
      said->sink(UsageReported{});
      if (weak.use_count() > 1) said->sink(std::move(said->outcome));
    });
  }
  void abort() override {}  // it ends when the loop comes around, as it is

 private:
  struct Said {
    PhaseDone outcome;
    PhaseEventSink sink;
  };
  std::shared_ptr<Said> said_;
};

}  // namespace

std::unique_ptr<Operation> start_routed_call(Route route, PhaseExecutionRequest request,
                                             Prices prices, PhaseEventSink sink) {
  auto call = std::make_shared<RoutedCall>(std::move(route), std::move(request), std::move(prices),
                                           std::move(sink));
  call->begin();
  return std::make_unique<RoutedOperation>(std::move(call));
}

std::unique_ptr<Operation> answer_phase(Loop& loop, PhaseDone outcome, PhaseEventSink sink) {
  return std::make_unique<AnsweredPhase>(loop, std::move(outcome), std::move(sink));
}

}  // namespace pawl
