// One executor over many: "provider/model" is forwarded to the provider's executor as "model".
//
// Providers are in pools, which runs share; targets of a charter's own (scripts, the host itself)
// are named whole and get their literal as it is, without a gate and without a breakers.
//  - A target whose circuit breaker is open answers at once, of the kind `circuit_open`, with no
//  request.
//  - A system header precedes every system prompt.
//  - What answered is reported as "provider/model".
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pawl/models/model_pool.h"
#include "pawl/models/model_resolver.h"

namespace pawl {

struct RoutingOptions {
  std::vector<std::shared_ptr<ModelPool>> pools;  // at least one; the first that has a provider
  std::map<std::string, std::shared_ptr<Executor>, std::less<>> targets;  // by literal
  std::string system_header;                                              // may be empty
  std::vector<std::string> chain = {};  // what capabilities() is about; empty: all there is
};

class RoutingExecutor final : public Executor, public TargetDirectory {
 public:
  explicit RoutingExecutor(RoutingOptions options);

  // All of them can do these; of one target, ask capabilities_of().
  const ExecutorCapabilities& capabilities() const override { return common_; }
  std::vector<ExecutorModelDescriptor> list_models() const override;
  bool supports(std::string_view literal) const override;
  ExecutorCapabilities capabilities_of(std::string_view literal) const override;
  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override;
  std::optional<std::uint64_t> calculate_cost(const std::string& tenant, std::string_view literal,
                                              const Usage& usage) const override;
  // Of the first target of the chain whose executor has one; then those of all of them.
  std::optional<McpServerConfig> mcp_server() const override;
  std::vector<McpServerConfig> mcp_servers() const override;
  ExecutorHealth health() const override;

  bool has_target(std::string_view literal) const override { return supports(literal); }
  std::vector<ExecutorModelDescriptor> listed() const override { return list_models(); }
  ExecutorModelDescriptor facts_of(std::string_view literal) const override;
  std::string missing_for(std::string_view literal) const override;

 private:
  // Who executes a target, and under which name; no executor: nobody.
  struct Found {
    std::shared_ptr<Executor> executor;
    std::shared_ptr<ModelPool> pool;  // null: a target of the charter's own
    std::string provider;
    std::string model;
  };
  Found find(std::string_view literal) const;

  RoutingOptions options_;
  ExecutorCapabilities common_;
};

// Every turn is the host's: each phase ends at once with ReplyStop::external.
class ExternalExecutor final : public Executor {
 public:
  explicit ExternalExecutor(Loop& loop);

  const ExecutorCapabilities& capabilities() const override { return capabilities_; }
  std::vector<ExecutorModelDescriptor> list_models() const override;
  bool supports(std::string_view model) const override { return model == kExternalModel; }
  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override;

 private:
  Loop& loop_;
  ExecutorCapabilities capabilities_;
};

}  // namespace pawl
