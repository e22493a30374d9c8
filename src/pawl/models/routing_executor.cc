#include "pawl/models/routing_executor.h"

#include <algorithm>
#include <utility>

#include "pawl/models/catalogue.h"
#include "pawl/models/routed_call.h"
#include "pawl/result.h"

namespace pawl {

namespace {

// What both can do. Mixed strategies of resuming come down to replay: the conversation is in the
// journal, and every provider takes it.
ExecutorCapabilities common_of(const ExecutorCapabilities& a, const ExecutorCapabilities& b) {
  ExecutorCapabilities both;
  both.supports_native_subagents = a.supports_native_subagents && b.supports_native_subagents;
  both.supports_claude_md_native_walk_up =
      a.supports_claude_md_native_walk_up && b.supports_claude_md_native_walk_up;
  both.supports_native_file_tools = a.supports_native_file_tools && b.supports_native_file_tools;
  both.supports_session_resume = a.supports_session_resume && b.supports_session_resume;
  both.supports_conversation_replay = !both.supports_session_resume;
  both.supports_thinking = a.supports_thinking && b.supports_thinking;
  both.supports_image_input = a.supports_image_input && b.supports_image_input;
  const bool stated = a.max_context_tokens > 0 && b.max_context_tokens > 0;
  both.max_context_tokens = stated ? std::min(a.max_context_tokens, b.max_context_tokens)
                                   : std::max(a.max_context_tokens, b.max_context_tokens);
  return both;
}

std::vector<ExecutorCapabilities> all_of(const RoutingOptions& options) {
  std::vector<ExecutorCapabilities> all;
  for (const auto& [literal, executor] : options.targets) all.push_back(executor->capabilities());
  for (const auto& pool : options.pools) {
    for (const auto& [name, entry] : pool->providers()) {
      all.push_back(entry.provider.executor->capabilities());
    }
  }
  return all;
}

ExecutorCapabilities common_of(const std::vector<ExecutorCapabilities>& all) {
  ExecutorCapabilities common;
  common.supports_conversation_replay = true;
  if (!all.empty()) common = all.front();
  for (const ExecutorCapabilities& one : all) common = common_of(common, one);
  return common;
}

}  // namespace

RoutingExecutor::RoutingExecutor(RoutingOptions options) : options_(std::move(options)) {
  PAWL_ASSERT(!options_.pools.empty());
  std::vector<ExecutorCapabilities> of_chain;
  for (const std::string& literal : options_.chain) {
    if (find(literal).executor) of_chain.push_back(capabilities_of(literal));
  }
  common_ = common_of(of_chain.empty() ? all_of(options_) : of_chain);
}

RoutingExecutor::Found RoutingExecutor::find(std::string_view literal) const {
  if (const auto own = options_.targets.find(literal); own != options_.targets.end()) {
    return {own->second, nullptr, "", std::string(literal)};
  }
  const auto split = split_literal(literal);
  if (!split) return {};
  for (const auto& pool : options_.pools) {
    if (const ModelPool::Entry* entry = pool->find(split->provider)) {
      return {entry->provider.executor, pool, split->provider, split->model};
    }
  }
  return {};
}

std::vector<ExecutorModelDescriptor> RoutingExecutor::list_models() const {
  std::vector<ExecutorModelDescriptor> all;
  for (const auto& [literal, executor] : options_.targets) all.push_back(facts_of(literal));
  for (const auto& pool : options_.pools) {
    for (const auto& [name, entry] : pool->providers()) {
      for (ExecutorModelDescriptor& model : entry.provider.executor->list_models()) {
        model.id = name + "/" + model.id;
        all.push_back(std::move(model));
      }
    }
  }
  return all;
}

bool RoutingExecutor::supports(std::string_view literal) const {
  const Found found = find(literal);
  return found.executor && found.executor->supports(found.model);
}

ExecutorCapabilities RoutingExecutor::capabilities_of(std::string_view literal) const {
  const Found found = find(literal);
  return found.executor ? found.executor->capabilities_of(found.model) : common_;
}

ExecutorModelDescriptor RoutingExecutor::facts_of(std::string_view literal) const {
  const Found found = find(literal);
  ExecutorModelDescriptor facts;
  if (found.executor) {
    const auto models = found.executor->list_models();
    const auto named = [&models](std::string_view id) {
      return std::find_if(models.begin(), models.end(), [id](const auto& m) { return m.id == id; });
    };
    auto model = named(found.model);
    if (model == models.end()) model = named(without_date(found.model));
    if (model == models.end() && !found.pool && !models.empty()) model = models.begin();
    if (model != models.end()) facts = *model;
    if (facts.context_tokens == 0) {
      facts.context_tokens = found.executor->capabilities_of(found.model).max_context_tokens;
    }
    const bool own = !found.pool;  // a script, the host: what they cost is what they say
    if (own || found.pool->find(found.provider)->provider.bills == PooledProvider::Bills::none) {
      facts.priced = ExecutorModelDescriptor::Support::yes;
    }
  }
  facts.id = literal;
  return facts;
}

std::string RoutingExecutor::missing_for(std::string_view literal) const {
  const Found found = find(literal);
  return found.pool ? found.pool->find(found.provider)->provider.missing : "";
}

std::unique_ptr<Operation> RoutingExecutor::execute_phase(const PhaseExecutionRequest& request,
                                                          PhaseEventSink sink) {
  Found found = find(request.model);
  if (!found.executor) {
    PhaseFailed failed;
    failed.category = ErrorCategory::validation_error;
    failed.kind = FailureKind::model_not_found;
    failed.message = "nobody here executes the model " + quoted(request.model);
    return answer_phase(options_.pools.front()->loop(), {std::move(failed)}, std::move(sink));
  }
  const bool as_it_is = !found.pool && options_.system_header.empty();
  if (as_it_is) return found.executor->execute_phase(request, std::move(sink));
  PhaseExecutionRequest forwarded = request;
  if (!options_.system_header.empty()) {
    forwarded.system_prompt = request.system_prompt.empty()
                                  ? options_.system_header
                                  : options_.system_header + "\n\n" + request.system_prompt;
  }
  if (!found.pool) return found.executor->execute_phase(forwarded, std::move(sink));
  // Prices are for the books alone: looking them up for nobody would cost every call.
  Prices prices = found.pool->sinks().usage ? facts_of(request.model).prices : Prices{};
  return start_routed_call({found.pool, found.provider, found.model}, std::move(forwarded),
                           std::move(prices), std::move(sink));
}

std::optional<std::uint64_t> RoutingExecutor::calculate_cost(const std::string& tenant,
                                                             std::string_view literal,
                                                             const Usage& usage) const {
  const Found found = find(literal);
  if (!found.executor) return std::nullopt;
  return found.executor->calculate_cost(tenant, found.model, usage);
}

std::optional<McpServerConfig> RoutingExecutor::mcp_server() const {
  auto all = mcp_servers();
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

// Each once: two models of a chain may be one provider's, and names of servers are unique in a
// pool.
std::vector<McpServerConfig> RoutingExecutor::mcp_servers() const {
  std::vector<McpServerConfig> all;
  for (const std::string& literal : options_.chain) {
    const Found found = find(literal);
    if (!found.executor) continue;
    for (McpServerConfig& server : found.executor->mcp_servers()) {
      const auto is_known = [&server](const McpServerConfig& one) {
        return one.name == server.name;
      };
      if (std::none_of(all.begin(), all.end(), is_known)) all.push_back(std::move(server));
    }
  }
  return all;
}

ExecutorHealth RoutingExecutor::health() const {
  std::string configured;
  for (const auto& pool : options_.pools) {
    for (const auto& [name, entry] : pool->providers()) {
      if (entry.provider.missing.empty()) configured += (configured.empty() ? "" : ", ") + name;
    }
  }
  if (!configured.empty()) return {ok(), "configured: " + configured};
  if (!options_.targets.empty()) return {};
  return {Error{ErrorCode::not_found, "no provider is configured"}, ""};
}

ExternalExecutor::ExternalExecutor(Loop& loop) : loop_(loop) {
  capabilities_.supports_conversation_replay = true;
}

std::vector<ExecutorModelDescriptor> ExternalExecutor::list_models() const {
  ExecutorModelDescriptor model;
  model.id = kExternalModel;
  model.display_name = "The host takes every turn";
  model.priced = ExecutorModelDescriptor::Support::yes;  // what the host pays is the host's
  return {model};
}

std::unique_ptr<Operation> ExternalExecutor::execute_phase(const PhaseExecutionRequest& request,
                                                           PhaseEventSink sink) {
  PhaseReplied replied;
  replied.stop = ReplyStop::external;
  replied.model = request.model;
  return answer_phase(loop_, {std::move(replied)}, std::move(sink));
}

}  // namespace pawl
