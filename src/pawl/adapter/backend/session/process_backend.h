// The backends whose tools are processes of this machine: `local`, `landlock`, `namespace`,
// `container`.
//
// A session's calls are performed one after the other, on a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pawl/adapter/backend/session/proxy_forwarder.h"
#include "pawl/adapter/backend/session/session_files.h"
#include "pawl/backend.h"
#include "pawl/loop.h"
#include "pawl/port/byte_filter.h"

namespace pawl::backend {

// Called on the session's thread: what an operator must know at once, as a sentence without its
// dot.
using SessionNotice = std::function<void(const ExecutionContext& context, const std::string& text)>;

struct BackendOptions {
  OpenFiles open_files;
  SessionConnector connect_proxy = nullptr;  // for networks of listed hosts
  // Output that is kept in files passes it first; null: it is kept as it comes.
  std::shared_ptr<const ByteFilter> filter = nullptr;
  SessionNotice notice = nullptr;
};

// The loop outlives the backend, its sessions and their operations.
std::unique_ptr<Backend> make_local_backend(Loop& loop, BackendOptions options);
std::unique_ptr<Backend> make_landlock_backend(Loop& loop, BackendOptions options);
std::unique_ptr<Backend> make_namespace_backend(Loop& loop, BackendOptions options);
// By the first of runc, podman and docker that can be used here, or by the one that is named.
std::unique_ptr<Backend> make_container_backend(Loop& loop, BackendOptions options);
std::unique_ptr<Backend> make_runc_backend(Loop& loop, BackendOptions options);
std::unique_ptr<Backend> make_podman_backend(Loop& loop, BackendOptions options);
std::unique_ptr<Backend> make_docker_backend(Loop& loop, BackendOptions options);

}  // namespace pawl::backend
