#include "pawl/adapter/backend/session/process_backend.h"

#include <optional>
#include <utility>

#include "pawl/adapter/backend/sandbox/confinement.h"
#include "pawl/adapter/backend/sandbox/landlock_rules.h"
#include "pawl/adapter/backend/session/level_check.h"
#include "pawl/adapter/backend/session/session_core.h"

namespace pawl::backend {
namespace {

Result<IsolationLevel> try_container(std::optional<ContainerEngine> wanted) {
  PAWL_TRY(const ContainerEngine engine, find_engine(wanted));
  ExecutionContext context;
  context.working_directory = "/usr";
  context.read_roots = {"/usr"};
  PAWL_TRY(auto plan, sandbox::make_sandbox_plan(context, IsolationLevel::container));
  PAWL_TRY(auto container, make_container(engine, {plan, {}, {"/bin/true"}, {}}));
  plan.level = IsolationLevel::none;
  PAWL_TRY(auto place, sandbox::Confinement::prepare(std::move(plan)));
  sandbox::ProcessStart start;
  start.argv = container->command();
  start.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  PAWL_TRY(auto process, RunningProcess::start(place, std::move(start)));
  std::string said;
  std::optional<BackendOutcome::Kind> why;
  const Descriptor never;
  process->pump(
      "", RunningProcess::After::close, never, {10'000, {}, TreeWatch::Past::counts, nullptr},
      [&](std::string_view piece) {
        said += piece;
        return false;
      },
      why);
  if (process->kill() == 0) return IsolationLevel::container;
  return Error{ErrorCode::unavailable, "no container: " + std::string(name(engine)) +
                                           " says: " + said.substr(0, 300) + " (use `namespace`)"};
}

// By making a sandbox and running a program in it: what a kernel says about itself is not enough.
Result<IsolationLevel> try_level(IsolationLevel level) {
  sandbox::SandboxPlan plan;
  plan.level = level;
  plan.working_directory = "/usr";
  plan.read_roots = {"/usr"};
  PAWL_TRY(auto place, sandbox::Confinement::prepare(std::move(plan)));
  sandbox::ProcessStart start;
  start.argv = {"/bin/true"};
  PAWL_TRY(auto process, RunningProcess::start(place, std::move(start)));
  return level;
}

std::unique_ptr<Backend> make(std::string name, IsolationLevel level, Loop& loop,
                              BackendOptions options,
                              std::optional<ContainerEngine> engine = std::nullopt) {
  ThreadedBackendParts parts;
  parts.name = std::move(name);
  parts.probe = [level, engine] {
    return level == IsolationLevel::container ? try_container(engine) : try_level(level);
  };
  parts.landlock = [level] {
    const auto version = sandbox::landlock_behind(level);
    return version ? *version : 0;
  };
  parts.admits = [level,
                  proxy = options.connect_proxy != nullptr](const ExecutionContext& context) {
    return check_level(context, level, proxy ? HasProxy::yes : HasProxy::no);
  };
  parts.open = [level, engine, options = std::move(options)](
                   const ExecutionContext& context) -> Result<std::shared_ptr<SessionCalls>> {
    PAWL_TRY(auto core, SessionCore::open(context, level, options, engine));
    core->filter_kept(options.filter);
    return std::shared_ptr<SessionCalls>(std::move(core));
  };
  return make_threaded_backend(loop, std::move(parts));
}

}  // namespace

std::unique_ptr<Backend> make_local_backend(Loop& loop, BackendOptions options) {
  return make("local", IsolationLevel::none, loop, std::move(options));
}

std::unique_ptr<Backend> make_landlock_backend(Loop& loop, BackendOptions options) {
  return make("landlock", IsolationLevel::landlock, loop, std::move(options));
}

std::unique_ptr<Backend> make_namespace_backend(Loop& loop, BackendOptions options) {
  return make("namespace", IsolationLevel::namespaces, loop, std::move(options));
}

std::unique_ptr<Backend> make_container_backend(Loop& loop, BackendOptions options) {
  return make("container", IsolationLevel::container, loop, std::move(options));
}

std::unique_ptr<Backend> make_runc_backend(Loop& loop, BackendOptions options) {
  return make("runc", IsolationLevel::container, loop, std::move(options), ContainerEngine::runc);
}

std::unique_ptr<Backend> make_podman_backend(Loop& loop, BackendOptions options) {
  return make("podman", IsolationLevel::container, loop, std::move(options),
              ContainerEngine::podman);
}

std::unique_ptr<Backend> make_docker_backend(Loop& loop, BackendOptions options) {
  return make("docker", IsolationLevel::container, loop, std::move(options),
              ContainerEngine::docker);
}

}  // namespace pawl::backend
