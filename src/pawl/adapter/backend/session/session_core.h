// What a session does, on its own thread: everything here may block.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/adapter/backend/command/fd.h"
#include "pawl/adapter/backend/sandbox/confinement.h"
#include "pawl/adapter/backend/session/call_output.h"
#include "pawl/adapter/backend/session/proxy_forwarder.h"
#include "pawl/adapter/backend/session/running_process.h"
#include "pawl/adapter/backend/session/session_files.h"
#include "pawl/port/backend.h"

namespace pawl::backend {

class SessionCore {
 public:
  // `connect` is asked for a connection to the proxy where the network is limited.
  static Result<std::shared_ptr<SessionCore>> open(ExecutionContext context, IsolationLevel level,
                                                   const OpenFiles& open_files,
                                                   const ProxyConnector& connect);

  const ExecutionContext& context() const { return context_; }
  IsolationLevel level() const { return level_; }

  BackendOutcome bash(const ShellCommand& command, const tool_command::Fd& stop);
  BackendOutcome exec(const ShellCommand& command, const tool_command::Fd& stop);
  BackendOutcome view(const std::string& path, std::optional<ViewRange> range);
  BackendOutcome create_file(const FileWrite& write);
  BackendOutcome str_replace(const StrReplace& edit);
  BackendOutcome file_request(const FileRequest& request);
  Status cleanup();

 private:
  struct Call {
    CallOutput output;
    PumpLimits limits;
    std::string note;
  };
  SessionCore(ExecutionContext context, IsolationLevel level)
      : context_(std::move(context)), level_(level) {}
  Call begin(const ShellCommand& command);
  BackendOutcome finish(Call& call, std::optional<BackendOutcome::Kind> why,
                        std::optional<int> exit_code);
  BackendOutcome refusal(const Error& error) const;
  sandbox::ProcessStart process(std::vector<std::string> argv) const;
  Status start_shell();

  ExecutionContext context_;
  IsolationLevel level_;
  std::unique_ptr<SessionFiles> files_;
  std::shared_ptr<sandbox::Confinement> place_;
  std::unique_ptr<ProxyForwarder> forwarder_;
  std::unique_ptr<RunningProcess> shell_;
  bool lost_shell_ = false;  // there was one before, and its state is gone
  std::uint64_t memory_kills_ = 0;
};

}  // namespace pawl::backend
