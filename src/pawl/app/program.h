// The composition root of the program: which store, models and tools the command line works with.
#pragma once

#include <memory>
#include <string>

#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/adapter/host/console.h"
#include "pawl/adapter/trust/noted_trust.h"
#include "pawl/app/fake_serving.h"
#include "pawl/app/simulation.h"
#include "pawl/assembly/assembly.h"
#include "pawl/filter/redactor.h"
#include "pawl/filter/secrets/secret_filter.h"
#include "pawl/gate/policy_user.h"
#include "pawl/surface/cli/environment.h"

namespace pawl {

class Program final : public CliEnvironment {
 public:
  // Knows the secrets of the environment from the beginning on.
  Program();
  Console& console() override { return console_; }
  Result<Settings> settings(const SettingFlags& flags) override;
  Result<std::unique_ptr<Workspace>> open(const Settings& settings, IfAbsent absent) override;
  AgentReading read_agent(const std::string& path) override;
  AgentReading chat_agent(const std::string& model) override;
  EpollLoop& main_loop() override { return loop(); }
  std::string description_of(const std::string& charter) override;
  Result<std::string> read_text(const std::string& path) override;
  Status write_new(const std::string& path, const std::string& text) override;
  Status write_private(const std::string& path, const std::string& text) override;
  Result<std::unique_ptr<OutputFile>> create_file(const std::string& path) override;
  Result<std::unique_ptr<LineSource>> open_lines(const std::string& path) override;
  std::vector<std::string> secrets() const override;
  void log_line(const Settings& settings, const std::string& line) override;
  std::vector<std::string> damaged_files(const Settings& settings, const std::string& run) override;
  FileTally old_outputs(const Settings& settings, const std::string& run, std::int64_t before_ms,
                        OldFiles what) override;
  void share_files(const Settings& settings, const std::string& parent,
                   const std::string& fork) override;
  void remove_files(const Settings& settings, const std::string& run) override;
  Handover detach(const Settings& settings, const std::string& log_name,
                  const Background& work) override;
  std::vector<Finding> examine(const Settings& settings, Probing probing) override;
  Result<StoreAcceptance> accept_store(const Settings& settings) override;
  Result<StoreRestoration> restore_store(const std::string& backup,
                                         const std::string& directory) override;
  Result<std::vector<ModelRow>> models(const Settings& settings) override;
  Result<TenantSpending> tenant_spending(const Settings& settings,
                                         const std::string& tenant) override;
  Status raise_tenant(const Settings& settings, const std::string& tenant,
                      const BudgetAmount& by) override;
  SimulationOutcome simulate(const SimulationRequest& request,
                             const std::function<void(const SimulationTally&)>& progress) override {
    return run_simulation(request, progress);
  }
  Result<std::uint64_t> serve_fake_provider(
      const FakeProviderRequest& request,
      const std::function<void(const std::string& url)>& ready) override {
    return serve_fake(loop(), request, secrets(), ready);
  }
  Status remember(const Settings& settings, const RememberedApproval& approval) override;
  Result<std::vector<RememberedApproval>> remembered(const Settings& settings) override;
  Status forget(const Settings& settings, const std::string& id) override;
  std::vector<FileQuestion> open_questions() override;
  Result<FileQuestion> question_about(const std::string& path) override;
  Status trust_file(const FileQuestion& question) override;
  Result<std::vector<TrustedRow>> trusted_files() override;
  VersionNumbers versions() const override;
  std::int64_t wall_ms() const override;
  std::string user() const override;

 private:
  EpollLoop& loop();
  // Made when first needed: detach() forks, and must find nothing that a child cannot share.
  ModelLayer& model_layer();
  AgentAssembler& assembler();
  std::shared_ptr<BudgetLedger> ledger();
  // Reads the configuration and the policy once more, by their digests.
  Status look_at_settings(Settings& settings);
  Status admit_command(const std::vector<std::string>& arguments) const;

  const std::shared_ptr<KnownSecrets> known_ = std::make_shared<KnownSecrets>();
  const std::shared_ptr<const ByteFilter> filter_ = std::make_shared<SecretFilter>(known_);
  PosixConsole console_{filter_};
  std::shared_ptr<const FileTrust> trust_;
  std::vector<HostFile> settings_files_;
  std::unique_ptr<Redactor> patterns_;  // for the log; made with its first line
  std::unique_ptr<EpollLoop> loop_;
  std::shared_ptr<HttpClient> http_;
  Settings settings_;                 // those of the command, once it asked for them
  std::vector<UserPolicy> policies_;  // likewise
  std::shared_ptr<BudgetLedger> ledger_;
  std::unique_ptr<ModelLayer> models_;
  std::unique_ptr<AgentAssembler> assembler_;
};

}  // namespace pawl
