#include "pawl/adapter/provider/provider_executor.h"

#include <algorithm>
#include <utility>

#include "pawl/adapter/provider/exchange/exchange.h"

namespace pawl::provider {
namespace {

using Support = ExecutorModelDescriptor::Support;

// Of a model that nobody described: nothing is held back from it, the provider knows better.
ExecutorModelDescriptor unknown_model(std::string_view id) {
  ExecutorModelDescriptor model;
  model.id = id;
  model.display_name = id;
  model.thinking = Support::yes;
  model.images = Support::yes;
  model.structured_output = Support::yes;
  return model;
}

ExecutorCapabilities capabilities_of_config(const ProviderConfig& config) {
  ExecutorCapabilities bits;
  bits.supports_session_resume = config.resume == ProviderConfig::Resume::session;
  bits.supports_conversation_replay = !bits.supports_session_resume;
  const bool any_model = !config.model_prefixes.empty();
  bits.supports_thinking = any_model;
  bits.supports_image_input = any_model;
  for (const ExecutorModelDescriptor& model : config.models) {
    if (model.thinking == Support::yes) bits.supports_thinking = true;
    if (model.images == Support::yes) bits.supports_image_input = true;
    bits.max_context_tokens = std::max(bits.max_context_tokens, model.context_tokens);
  }
  return bits;
}

class DialectExecutor final : public Executor {
 public:
  explicit DialectExecutor(std::shared_ptr<const PhaseServices> services)
      : services_(std::move(services)), capabilities_(capabilities_of_config(config())) {}

  const ExecutorCapabilities& capabilities() const override { return capabilities_; }
  std::vector<ExecutorModelDescriptor> list_models() const override { return config().models; }
  bool supports(std::string_view model) const override { return facts_of(model).has_value(); }
  ExecutorCapabilities capabilities_of(std::string_view model) const override {
    ExecutorCapabilities bits = capabilities_;
    const auto facts = facts_of(model);
    if (!facts) return bits;
    bits.supports_thinking = bits.supports_thinking && facts->thinking == Support::yes;
    bits.supports_image_input = bits.supports_image_input && facts->images == Support::yes;
    if (facts->context_tokens > 0) bits.max_context_tokens = facts->context_tokens;
    return bits;
  }

  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override {
    auto facts = facts_of(request.model);
    if (!facts) {
      return fail_phase(
          services_,
          {ErrorCategory::validation_error, config().name + " has no model " + request.model,
           std::nullopt, FailureKind::model_not_found},
          std::move(sink));
    }
    return start_phase(services_, request, options_for(*std::move(facts)), std::move(sink));
  }

  ExecutorHealth health() const override {
    ExecutorHealth health;
    health.detail = config().base_url;
    if (!config().key) {
      health.detail += ", no key";
      return health;
    }
    // The value is not asked for: that may read a file or run a program.
    health.detail += ", key from " + config().key->origin();
    return health;
  }

  std::unique_ptr<Operation> test_connection(std::function<void(Status)> done) override {
    return start_probe(services_, options_for({}), std::move(done));
  }

 private:
  const ProviderConfig& config() const { return services_->config; }

  // The id as the provider knows it: models are named with their provider as well.
  std::string_view bare(std::string_view model) const {
    const std::string prefix = config().name + "/";
    return model.starts_with(prefix) ? model.substr(prefix.size()) : model;
  }

  std::optional<ExecutorModelDescriptor> facts_of(std::string_view model) const {
    for (const std::string_view id : {model, bare(model)}) {
      for (const ExecutorModelDescriptor& one : config().models) {
        if (one.id == id) return one;
      }
    }
    for (const std::string& prefix : config().model_prefixes) {
      if (bare(model).starts_with(prefix)) return unknown_model(bare(model));
    }
    return std::nullopt;
  }

  WireOptions options_for(ExecutorModelDescriptor model) const {
    WireOptions options;
    options.name = config().name;
    options.base_url = config().base_url;
    while (options.base_url.ends_with('/')) options.base_url.pop_back();
    options.model = std::move(model);
    options.headers = config().headers;
    options.quirks = config().quirks;
    options.resume = config().resume == ProviderConfig::Resume::session
                         ? WireOptions::Resume::session
                         : WireOptions::Resume::replay;
    return options;
  }

  const std::shared_ptr<const PhaseServices> services_;
  const ExecutorCapabilities capabilities_;
};

}  // namespace

std::shared_ptr<Executor> make_dialect_executor(ProviderConfig config,
                                                std::shared_ptr<const Dialect> dialect, Loop& loop,
                                                std::shared_ptr<HttpClient> http) {
  // Only the Responses API keeps conversations: the others replay, whatever is configured.
  if (config.dialect != ProviderDialect::openai_responses) {
    config.resume = ProviderConfig::Resume::replay;
  }
  return std::make_shared<DialectExecutor>(std::make_shared<const PhaseServices>(
      PhaseServices{std::move(config), std::move(dialect), loop, std::move(http)}));
}

}  // namespace pawl::provider
