#include "pawl/models/budgeted_executor.h"

#include <algorithm>
#include <utility>

#include "pawl/base/document.h"
#include "pawl/kernel/context.h"
#include "pawl/models/routed_call.h"

namespace pawl {
namespace {

constexpr std::uint64_t kBytesPerToken = 3;

struct Shared {
  BudgetedOptions options;
  Loop& loop;
};

// What a call used, until it ends; the ledger is told once.
class Account {
 public:
  Account(std::shared_ptr<Shared> shared, const BudgetGrant& grant, std::string tenant,
          std::string model, Prices prices)
      : shared_(std::move(shared)),
        grant_(grant.id),
        tenant_(std::move(tenant)),
        model_(std::move(model)),
        prices_(std::move(prices)),
        started_ms_(shared_->loop.monotonic_ms()) {}

  void see(const PhaseExecutorEvent& event) {
    if (const auto* reported = std::get_if<UsageReported>(&event)) usage_ = reported->usage;
    if (std::holds_alternative<PhaseDone>(event)) settle();
  }

 private:
  void settle() {
    BudgetAmount spent;
    const auto stated = shared_->options.inner->calculate_cost(tenant_, model_, usage_);
    spent.cost_pico = stated.value_or(cost_pico(usage_, prices_));
    spent.tokens = total_tokens(usage_);
    spent.time_ms = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, shared_->loop.monotonic_ms() - started_ms_));
    const Status settled = shared_->options.ledger->settle(grant_, spent);
    // It stays charged as it was reserved: more than it took, never less.
    if (!settled) shared_->options.note("budget: not settled: " + settled.error().message);
  }

  std::shared_ptr<Shared> shared_;
  std::uint64_t grant_;
  std::string tenant_;
  std::string model_;
  Prices prices_;
  std::int64_t started_ms_;
  Usage usage_;
};

PhaseFailed refused(FailureKind kind, std::string message, std::optional<std::uint64_t> again_ms) {
  PhaseFailed failed;
  failed.category = ErrorCategory::quota_exceeded;
  failed.kind = kind;
  failed.message = std::move(message);
  failed.retry_after_ms = again_ms;
  return failed;
}

std::string text_of(const std::string& tenant, const BudgetWindow& window,
                    const std::optional<std::int64_t>& again_at_ms) {
  std::string text = "the tenant " + tenant + " has used up its budget of " + to_string(window);
  if (!again_at_ms) {
    text = "the call is larger than the budget of the tenant " + tenant + ", " + to_string(window);
  }
  return text + "; pawl budget --tenant " + tenant + " shows it, --raise raises it";
}

class BudgetedExecutor final : public Executor {
 public:
  BudgetedExecutor(BudgetedOptions options, Loop& loop)
      : shared_(std::make_shared<Shared>(Shared{std::move(options), loop})) {}

  const ExecutorCapabilities& capabilities() const override { return inner().capabilities(); }
  std::vector<ExecutorModelDescriptor> list_models() const override {
    return inner().list_models();
  }
  bool supports(std::string_view model) const override { return inner().supports(model); }
  ExecutorCapabilities capabilities_of(std::string_view model) const override {
    return inner().capabilities_of(model);
  }
  std::optional<std::uint64_t> calculate_cost(const std::string& tenant, std::string_view model,
                                              const Usage& usage) const override {
    return inner().calculate_cost(tenant, model, usage);
  }
  std::optional<McpServerConfig> mcp_server() const override { return inner().mcp_server(); }
  std::vector<McpServerConfig> mcp_servers() const override { return inner().mcp_servers(); }
  ExecutorHealth health() const override { return inner().health(); }
  std::unique_ptr<Operation> test_connection(std::function<void(Status)> done) override {
    return inner().test_connection(std::move(done));
  }

  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override {
    const Usage& input = request.reserved;
    const std::uint64_t tokens = input_tokens_of(input);
    Granted granted = ask({request.tenant, request.run.text, request.model, tokens,
                           request.sampling.max_output_tokens.value_or(0)});
    if (granted.refusal) {
      return answer_phase(shared_->loop, {*std::move(granted.refusal)}, std::move(sink));
    }
    if (!granted.account) return inner().execute_phase(request, std::move(sink));
    PhaseExecutionRequest bounded = request;
    bounded.sampling.max_output_tokens = granted.output_tokens;
    return inner().execute_phase(bounded, watched(std::move(granted), std::move(sink)));
  }

  std::unique_ptr<Operation> chat(const ChatRequest& request, PhaseEventSink sink) override {
    std::uint64_t bytes = request.system_prompt.size() + request.output_schema.size();
    for (const ChatMessage& message : request.messages) bytes += message.text.size();
    Granted granted = ask({request.tenant, "chat", request.model, 1 + bytes / kBytesPerToken,
                           request.sampling.max_output_tokens.value_or(0)});
    if (granted.refusal) {
      return answer_phase(shared_->loop, {*std::move(granted.refusal)}, std::move(sink));
    }
    if (!granted.account) return inner().chat(request, std::move(sink));
    ChatRequest bounded = request;
    bounded.sampling.max_output_tokens = granted.output_tokens;
    return inner().chat(bounded, watched(std::move(granted), std::move(sink)));
  }

 private:
  struct Wanted {
    const std::string& tenant;
    std::string run;
    const std::string& model;
    std::uint64_t input_tokens;
    std::uint64_t output_tokens;  // 0: as many as the model gives
  };
  // Neither a refusal nor an account: nothing binds the tenant.
  struct Granted {
    std::optional<PhaseFailed> refusal = std::nullopt;
    std::shared_ptr<Account> account = nullptr;
    std::uint64_t output_tokens = 0;
  };

  RoutingExecutor& inner() const { return *shared_->options.inner; }

  static PhaseEventSink watched(Granted granted, PhaseEventSink sink) {
    return
        [account = std::move(granted.account), sink = std::move(sink)](PhaseExecutorEvent event) {
          account->see(event);
          sink(std::move(event));
        };
  }

  Granted ask(const Wanted& wanted) {
    const std::vector<BudgetWindow> windows = shared_->options.windows(wanted.tenant);
    if (windows.empty()) return {};
    const ExecutorModelDescriptor facts = inner().facts_of(wanted.model);
    for (const BudgetWindow& window : windows) {
      if (window.most.cost_pico == 0 || window.currency == facts.prices.currency) continue;
      return {refused(FailureKind::permanent,
                      wanted.model + " is paid in " + facts.prices.currency +
                          ", and the budget of the tenant " + wanted.tenant + " is in " +
                          window.currency,
                      std::nullopt)};
    }
    return reserve(wanted, windows, facts);
  }

  Granted reserve(const Wanted& wanted, const std::vector<BudgetWindow>& windows,
                  const ExecutorModelDescriptor& facts) {
    BudgetAsk ask;
    ask.tenant = wanted.tenant;
    ask.run = wanted.run;
    const Rules& rules = rules_of(kSemantics);  // A tenant's budget is not one run's.
    // Writing a cache may cost more than reading the input: the dearest one is set aside.
    const Rates rates = worst_rates(facts.prices, wanted.input_tokens, rules.input_estimate_factor);
    ask.input = {multiply_saturating(wanted.input_tokens, dearest_input(rates)),
                 wanted.input_tokens, kBudgetCallMs};
    ask.output_pico = rates.output;
    ask.output_most =
        facts.max_output_tokens > 0 ? facts.max_output_tokens : rules.reserved_output_tokens;
    if (wanted.output_tokens > 0) ask.output_most = wanted.output_tokens;
    ask.output_least = rules.output_tokens_min;
    ask.windows = windows;
    ask.now_ms = shared_->loop.wall_ms();
    // A time that is nearly over is enough for a short call.
    for (const BudgetWindow& window : windows) {
      if (window.most.time_ms > 0) {
        ask.input.time_ms = std::min(ask.input.time_ms, window.most.time_ms);
      }
    }
    const auto grant = shared_->options.ledger->reserve(ask);
    if (!grant) {
      shared_->options.note("budget: " + grant.error().message);
      return {refused(FailureKind::budget, "the ledger of budgets: " + grant.error().message,
                      kLedgerRetryMs)};
    }
    if (!grant->granted()) {
      const BudgetWindow& window = windows.at(grant->window);
      const std::int64_t again_at_ms =
          grant->again_at_ms.value_or(ask.now_ms + static_cast<std::int64_t>(window.length_ms));
      return {
          refused(FailureKind::budget, text_of(wanted.tenant, window, grant->again_at_ms),
                  static_cast<std::uint64_t>(std::max<std::int64_t>(1, again_at_ms - ask.now_ms)))};
    }
    return {std::nullopt,
            std::make_shared<Account>(shared_, *grant, wanted.tenant, wanted.model, facts.prices),
            grant->output_tokens};
  }

  std::shared_ptr<Shared> shared_;
};

std::string in_words(std::uint64_t ms) {
  return format_duration_ms(static_cast<std::int64_t>(ms));
}

}  // namespace

std::string to_string(const BudgetWindow& window) {
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : " and ") + one; };
  if (window.most.cost_pico > 0) add(format_money(window.most.cost_pico, window.currency));
  if (window.most.tokens > 0) add(std::to_string(window.most.tokens) + " tokens");
  if (window.most.time_ms > 0) add(in_words(window.most.time_ms) + " of model calls");
  return text + " in " + in_words(window.length_ms);
}

std::shared_ptr<Executor> make_budgeted_executor(BudgetedOptions options, Loop& loop) {
  return std::make_shared<BudgetedExecutor>(std::move(options), loop);
}

}  // namespace pawl
