#include <map>
#include <mutex>
#include <utility>

#include "pawl/adapter/backend/files/rooted_files.h"
#include "pawl/adapter/backend/session/native_backend.h"
#include "pawl/adapter/backend/session/process_backend.h"
#include "pawl/backend.h"

namespace pawl::backend {
namespace {

constexpr std::size_t kBackendsMax = 64;

struct Registry {
  std::mutex mutex;
  std::map<std::string, BackendFactory, std::less<>> factories = {
      {"container", &make_container_backend},
      {"docker", &make_docker_backend},
      {"landlock", &make_landlock_backend},
      {"local", &make_local_backend},
      {"namespace", &make_namespace_backend},
      {"podman", &make_podman_backend},
      {"runc", &make_runc_backend},
      {"native", [](Loop& loop, const BackendOptions& options) {
         return make_native_backend(loop, options);
       }}};
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

Status register_backend(std::string name, BackendFactory factory) {
  const std::lock_guard lock(registry().mutex);
  auto& factories = registry().factories;
  if (name.empty() || !factory) {
    return Error{ErrorCode::invalid_argument, "a backend needs a name and a factory"};
  }
  if (factories.size() >= kBackendsMax) {
    return Error{ErrorCode::limit_exceeded, "too many backends are registered"};
  }
  if (!factories.try_emplace(name, std::move(factory)).second) {
    return Error{ErrorCode::conflict, "there is a backend called " + name + " already"};
  }
  return ok();
}

std::vector<std::string> backend_names() {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string> names;
  for (const auto& [name, factory] : registry().factories) names.push_back(name);
  return names;
}

Result<std::unique_ptr<Backend>> make_backend(std::string_view name, Loop& loop,
                                              const BackendOptions& options) {
  BackendFactory factory;
  {
    const std::lock_guard lock(registry().mutex);
    const auto found = registry().factories.find(name);
    if (found != registry().factories.end()) factory = found->second;
  }
  if (factory) return factory(loop, options);
  std::string known;
  for (const std::string& each : backend_names()) known += (known.empty() ? "" : ", ") + each;
  return Error{ErrorCode::not_found,
               "no backend is called " + std::string(name) + " (there are: " + known + ")"};
}

Result<std::unique_ptr<Backend>> make_backend(std::string_view name, Loop& loop) {
  return make_backend(name, loop, {open_rooted_files<RootedFiles, FileRoots>()});
}

}  // namespace pawl::backend
