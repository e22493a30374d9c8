#include "pawl/app/program_tools.h"

#include <utility>

#include "pawl/adapter/backend/command/command_tool.h"
#include "pawl/adapter/backend/command/judging_script.h"
#include "pawl/adapter/backend/files/rooted_files.h"
#include "pawl/adapter/backend/git/plain_config.h"
#include "pawl/adapter/backend/session/process_backend.h"
#include "pawl/adapter/backend/session/sandbox_doctor.h"
#include "pawl/adapter/egress/egress_proxy.h"
#include "pawl/adapter/egress/guard.h"
#include "pawl/adapter/egress/guarded_client.h"
#include "pawl/adapter/egress/thread_resolver.h"
#include "pawl/adapter/host/sensitive_places.h"
#include "pawl/adapter/yaml/yaml.h"
#include "pawl/app/script_model.h"
#include "pawl/port/file_trust.h"

namespace pawl {
namespace {

class ProgramTools final : public ToolAdapters {
 public:
  ProgramTools(Loop& loop, SocketLoop* sockets, std::function<std::shared_ptr<HttpClient>()> http)
      : loop_(loop), sockets_(sockets), http_(std::move(http)) {}

  std::vector<std::string> backend_names() const override { return backend::backend_names(); }
  Result<std::unique_ptr<Backend>> make_backend(const std::string& name,
                                                SessionNeeds needs) override {
    backend::BackendOptions options;
    options.filter = std::move(needs.filter);
    options.notice = std::move(needs.notice);
    options.open_files = backend::open_rooted_files<backend::RootedFiles, backend::FileRoots>();
    if (needs.limited && sockets_ != nullptr) {
      const auto proxy = std::make_shared<EgressProxy>(
          *sockets_, make_egress_guard(loop_, resolver(), *needs.limited, std::move(needs.sink)));
      options.connect_proxy = [proxy](const ExecutionContext& of_run) {
        auto fd = proxy->connect(of_run.run.text);
        return fd ? *fd : -1;
      };
    }
    return backend::make_backend(name, loop_, options);
  }
  std::string describe(const SandboxReach& reach) const override { return describe_reach(reach); }
  bool is_complete(const SandboxReach& reach) const override { return pawl::is_complete(reach); }
  SensitivePlaces sensitive_places() const override { return pawl::sensitive_places(); }

  std::shared_ptr<Tool> make_command(CommandSpec spec) override {
    return make_command_tool(std::move(spec), loop_, pool());
  }
  std::map<std::string, std::string> command_environment() const override {
    return inherited_environment();
  }
  std::optional<JudgingScript> judging_script(const std::string& path,
                                              const std::string& directory) override {
    auto sealed = seal_script(path, kFileBytesDigested);
    if (!sealed) return std::nullopt;
    const Digest digest = sealed->digest;
    return JudgingScript{digest, [this, directory, script = *std::move(sealed)] {
                           return script_tool(directory, script, loop_, pool());
                         }};
  }
  std::optional<std::string> git_objection(
      const std::string& directory, const std::vector<std::string>& held_roots) const override {
    return pawl::git_objection(directory, held_roots);
  }

  std::shared_ptr<HttpClient> http() override { return http_ ? http_() : nullptr; }
  std::shared_ptr<HttpClient> guarded(std::shared_ptr<HttpClient> client,
                                      const EgressPolicy& policy, EgressSink sink) override {
    return make_guarded_client(loop_, std::move(client),
                               make_egress_guard(loop_, resolver(), policy, std::move(sink)));
  }

 private:
  const std::shared_ptr<CommandPool>& pool() {
    if (!pool_) pool_ = std::make_shared<CommandPool>();
    return pool_;
  }
  const std::shared_ptr<Resolver>& resolver() {
    if (!resolver_) resolver_ = make_thread_resolver(loop_);
    return resolver_;
  }

  Loop& loop_;
  SocketLoop* sockets_;
  std::function<std::shared_ptr<HttpClient>()> http_;
  std::shared_ptr<CommandPool> pool_;  // made with the first command
  std::shared_ptr<Resolver> resolver_;
};

}  // namespace

std::shared_ptr<ToolAdapters> program_tools(Loop& loop, SocketLoop* sockets,
                                            std::function<std::shared_ptr<HttpClient>()> http) {
  return std::make_shared<ProgramTools>(loop, sockets, std::move(http));
}

AssemblerOptions program_parts(Loop& loop, ToolboxOptions tools) {
  if (!tools.adapters) tools.adapters = program_tools(loop);
  return {std::move(tools), [](std::string_view text) { return parse_yaml(text); },
          script_models(loop)};
}

}  // namespace pawl
