// The adapters that tools are made of. The program supplies them; this room names none.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/backend.h"
#include "pawl/ids.h"
#include "pawl/port/byte_filter.h"
#include "pawl/port/command.h"
#include "pawl/port/egress.h"
#include "pawl/port/http.h"
#include "pawl/port/sensitive_places.h"
#include "pawl/tool.h"

namespace pawl {

// What the sessions of a backend need beside their context.
struct SessionNeeds {
  std::shared_ptr<const ByteFilter> filter = nullptr;  // for output that is kept in files
  // Called on the session's thread: what an operator must know at once.
  std::function<void(const ExecutionContext&, const std::string& text)> notice = {};
  std::optional<EgressPolicy> limited = {};  // the network of listed hosts; none: it has no proxy
  EgressSink sink = {};                      // gets what the proxy decides
};

// A program that judges calls, as it was when it was read.
struct JudgingScript {
  Digest digest;
  std::function<std::shared_ptr<Tool>()> make_tool;
};

// Used on the loop thread.
class ToolAdapters {
 public:
  virtual ~ToolAdapters() = default;

  virtual std::vector<std::string> backend_names() const = 0;
  // not_found: an error that lists the names there are.
  virtual Result<std::unique_ptr<Backend>> make_backend(const std::string& name,
                                                        SessionNeeds needs) = 0;
  // "namespace, Landlock 2 of 6; …"
  virtual std::string describe(const SandboxReach& reach) const = 0;
  // The second layer of the level has everything that this program has a use for.
  virtual bool is_complete(const SandboxReach& reach) const = 0;
  virtual SensitivePlaces sensitive_places() const = 0;

  // With the rights of the host.
  virtual std::shared_ptr<Tool> make_command(CommandSpec spec) = 0;
  // What such a command sees of the host's environment.
  virtual std::map<std::string, std::string> command_environment() const = 0;
  // Nothing: it is not there, cannot be executed, is too long, or cannot be sealed.
  virtual std::optional<JudgingScript> judging_script(const std::string& path,
                                                      const std::string& directory) = 0;
  // Of the repository that git takes for that of `directory`: why a command of it may start
  // programs. None: it starts none, or there is no repository.
  virtual std::optional<std::string> git_objection(
      const std::string& directory, const std::vector<std::string>& held_roots) const = 0;

  virtual std::shared_ptr<HttpClient> http() = 0;  // null: this host has none
  // One that connects to nothing but what the policy allows.
  virtual std::shared_ptr<HttpClient> guarded(std::shared_ptr<HttpClient> client,
                                              const EgressPolicy& policy, EgressSink sink) = 0;
};

}  // namespace pawl
