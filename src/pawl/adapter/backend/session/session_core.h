// The calls of a session whose tools are processes of this machine.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pawl/adapter/backend/git/session_git.h"
#include "pawl/adapter/backend/sandbox/confinement.h"
#include "pawl/adapter/backend/session/call_output.h"
#include "pawl/adapter/backend/session/container.h"
#include "pawl/adapter/backend/session/process_backend.h"
#include "pawl/adapter/backend/session/proxy_forwarder.h"
#include "pawl/adapter/backend/session/running_process.h"
#include "pawl/adapter/backend/session/session_calls.h"
#include "pawl/adapter/backend/session/session_files.h"
#include "pawl/adapter/backend/session/workspace_guard.h"
#include "pawl/backend.h"
#include "pawl/base/descriptor.h"

namespace pawl::backend {

class SessionCore final : public SessionCalls {
 public:
  static Result<std::shared_ptr<SessionCore>> open(ExecutionContext context, IsolationLevel level,
                                                   const BackendOptions& options,
                                                   std::optional<ContainerEngine> wanted);

  // Output that is kept in files passes it first.
  void filter_kept(std::shared_ptr<const ByteFilter> filter) { filter_ = std::move(filter); }

  const ExecutionContext& context() const override { return context_; }
  IsolationLevel level() const override { return level_; }

  BackendOutcome bash(const ShellCommand& command, const Descriptor& stop) override;
  BackendOutcome exec(const ShellCommand& command, const Descriptor& stop) override;
  BackendOutcome view(const std::string& path, std::optional<ViewRange> range) override;
  BackendOutcome create_file(const FileWrite& write) override;
  BackendOutcome str_replace(const StrReplace& edit) override;
  BackendOutcome file_request(const FileRequest& request) override;
  Status cleanup() override;
  void look_around() override;

 private:
  struct Call {
    CallOutput output;
    PumpLimits limits;
    std::string note;
  };
  SessionCore(ExecutionContext context, IsolationLevel level)
      : context_(std::move(context)), level_(level) {}
  Call begin(const ShellCommand& command);
  PumpLimits limits_of_shell() const;
  bool look_at_jobs();
  bool has_jobs() const;
  enum class ProcessEnd : std::uint8_t { exited, signalled };
  BackendOutcome finish(Call& call, std::optional<BackendOutcome::Kind> why,
                        std::optional<int> exit_code, ProcessEnd end = ProcessEnd::exited);
  Status set_up();
  Status refresh();
  void watch_places(PumpLimits& limits);
  std::string end_for(const std::vector<std::string>& replaced);
  std::string told_harm(const std::string& path);
  void look_once_more(Call& call, BackendOutcome& outcome);
  std::string take_nested(BackendOutcome& outcome);
  BackendOutcome with_hold(BackendOutcome outcome);
  void tell(const std::string& text) const;
  std::vector<std::string> take_names();
  void take_now();
  git::RunInside inside() const;
  void settle_git();
  Status repair_git();
  void take_made_repositories();
  std::optional<BackendOutcome> denial();
  BackendOutcome refusal(const Error& error) const;
  sandbox::ProcessStart process(std::vector<std::string> argv) const;
  // Started, and what is to be taken away after it.
  struct Started {
    std::unique_ptr<Container> container;  // outlives the process
    std::unique_ptr<RunningProcess> process;
  };
  static ProcessEnd end_of(const Started& started, std::optional<int> exit_code);
  Result<Started> start(sandbox::ProcessStart start) const;
  Status start_shell();
  void end_shell();
  std::string input_file() const;

  ExecutionContext context_;
  std::shared_ptr<const ByteFilter> filter_;
  IsolationLevel level_;
  std::unique_ptr<SessionFiles> files_;
  std::shared_ptr<sandbox::Confinement> place_;
  std::unique_ptr<ProxyForwarder> forwarder_;
  sandbox::SandboxPlan plan_;
  ContainerEngine engine_ = ContainerEngine::runc;  // of containers
  sandbox::ProtectedPlaces places_;                 // of containers; a sandbox has its own
  SessionConnector connect_;
  SessionNotice notice_;
  std::unique_ptr<WorkspaceGuard> guard_;  // none where the level holds nothing
  std::vector<std::string> taken_now_;     // said about names that were taken during the call
  std::vector<std::string> replaced_;      // protected names that the host has replaced in a call
  bool stale_ = false;                     // a mount no longer holds: set up anew before a process
  std::string remarks_;                    // for the next call
  std::set<std::string> harm_told_;        // of the guard that there is
  std::unique_ptr<git::SessionGit> git_;   // where the level holds names
  std::vector<std::string> git_said_;      // since the last call has ended
  Started shell_;
  bool lost_shell_ = false;                // there was one before, and its state is gone
  std::optional<std::uint64_t> git_look_;  // the look at files before repositories were looked for
  bool had_jobs_ = false;                  // of the shell, when the call began
  std::string why_lost_;                   // between two calls
  std::unique_ptr<DiskWatch> disk_;  // since the last call began before which jobs were looked at
  std::chrono::steady_clock::time_point looked_;
  std::uint64_t memory_kills_ = 0;
};

}  // namespace pawl::backend
