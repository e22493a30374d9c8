// Backends by name, for charters: the ones of Pawl, and those that a host has registered.
//
//   register_backend("mine", [](Loop& loop, const BackendOptions& options) { … });
//   PAWL_TRY(auto backend, make_backend("mine", loop, options));
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/session/process_backend.h"
#include "pawl/backend.h"
#include "pawl/result.h"

namespace pawl::backend {

inline constexpr std::size_t kBackendsMax = 64;
inline constexpr std::string_view kDefaultBackend = "namespace";

using BackendFactory =
    std::function<std::unique_ptr<Backend>(Loop& loop, const BackendOptions& options)>;

// conflict: the name is taken. Thread-safe, like all here.
Status register_backend(std::string name, BackendFactory factory);
// not_found: an error that lists the names there are.
Result<std::unique_ptr<Backend>> make_backend(std::string_view name, Loop& loop,
                                              const BackendOptions& options);
std::vector<std::string> backend_names();

}  // namespace pawl::backend
