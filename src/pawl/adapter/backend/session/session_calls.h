// What a session can do, on the session's own thread: everything here may block. `stop` is an
// eventfd: when it becomes readable, the call is to end soon.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/backend.h"
#include "pawl/base/descriptor.h"
#include "pawl/loop.h"
#include "pawl/result.h"

namespace pawl::backend {

class SessionCalls {
 public:
  virtual ~SessionCalls() = default;
  virtual const ExecutionContext& context() const = 0;
  virtual IsolationLevel level() const = 0;
  virtual BackendOutcome bash(const ShellCommand& command, const Descriptor& stop) = 0;
  virtual BackendOutcome exec(const ShellCommand& command, const Descriptor& stop) = 0;
  virtual BackendOutcome view(const std::string& path, std::optional<ViewRange> range) = 0;
  virtual BackendOutcome create_file(const FileWrite& write) = 0;
  virtual BackendOutcome str_replace(const StrReplace& edit) = 0;
  virtual BackendOutcome file_request(const FileRequest& request) = 0;
  virtual Status cleanup() = 0;
  // Between calls, from time to time: what runs on in the background has limits, too.
  virtual void look_around() {}
};

struct ThreadedBackendParts {
  std::string name;
  std::function<Result<IsolationLevel>()> probe;
  std::function<Status(const ExecutionContext&)> admits = {};  // empty: whatever it is
  std::function<Result<std::shared_ptr<SessionCalls>>(const ExecutionContext&)> open;
  std::function<int()> landlock = {};  // empty: none
};

// A backend whose sessions have a thread each and perform their calls one after the other. The loop
// outlives it, its sessions and their operations.
std::unique_ptr<Backend> make_threaded_backend(Loop& loop, ThreadedBackendParts parts);

}  // namespace pawl::backend
