// A tool of any origin: native, command, MCP. It translates and bounds; it never decides.
//
// Contract, checked by tests/contract/tool_contract.h:
//  - invoke() and status() call `done` exactly once, on the loop thread, unless their Operation is
//    destroyed first; never from inside the call itself.
//  - Work that was aborted or ran into its timeout has left no process behind when `done` is
//  called.
//  - A tool that throws is a ToolOutcome::failed, not an exception.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/content.h"
#include "pawl/ids.h"
#include "pawl/loop.h"
#include "pawl/result.h"

namespace pawl {

// --- What a host may lend to its tools and callbacks for one invocation. All optional.
//
// Implementations are called from the loop thread and from tools' threads: they are thread-safe.

// On whose behalf a call is made: the same in every process that drives the run.
struct OnBehalf {
  std::string tenant = "default";
  std::string identity;
  std::string session_id;
  std::string trace_parent;
};

// As commands are told in their environment; what is empty is left out.
inline std::map<std::string, std::string> variables_of(const OnBehalf& whom) {
  std::map<std::string, std::string> variables = {{"PAWL_TENANT", whom.tenant},
                                                  {"PAWL_IDENTITY", whom.identity},
                                                  {"PAWL_SESSION", whom.session_id},
                                                  {"TRACEPARENT", whom.trace_parent}};
  std::erase_if(variables, [](const auto& one) { return one.second.empty(); });
  return variables;
}

class SessionService {
 public:
  virtual ~SessionService() = default;
  virtual Result<std::optional<std::string>> get(const std::string& key) = 0;
  virtual Status set(const std::string& key, std::string value) = 0;
};

class MemoryService {
 public:
  virtual ~MemoryService() = default;
  virtual Status remember(std::string text) = 0;
  virtual Result<std::vector<std::string>> search(const std::string& query,
                                                  std::size_t count_max) = 0;
};

class ArtifactService {
 public:
  virtual ~ArtifactService() = default;
  virtual Status save(const std::string& name, std::string bytes) = 0;
  virtual Result<std::string> load(const std::string& name) = 0;
};

class InvocationContext;

// Whose word a call runs on.
enum class Consent : std::uint8_t {
  policy,    // nobody was asked about it
  a_person,  // somebody approved exactly this call
};

struct ToolInvocation {
  RunId run;
  InstanceId instance = kRootInstance;
  CallId call{};
  std::string key;    // hexadecimal; the same for every attempt at this call
  std::string input;  // JSON, the bytes the model sent, valid for the tool's schema
  std::uint32_t attempt = 1;
  Consent consent = Consent::policy;
  std::shared_ptr<const InvocationContext> context;  // may be null
  std::shared_ptr<const std::atomic<bool>> stop;     // true once the result is no longer wanted
  OnBehalf on_behalf = {};
};

struct ToolOutcome {
  enum class Kind : std::uint8_t {
    succeeded,
    failed,     // it is known that it ended, and how: non-zero exit, exec failure, exception
    timed_out,  // it was stopped at its timeout: what it had done by then is not known
    aborted,    // it was stopped, by the run or by a signal from elsewhere: likewise not known
  };
  Kind kind = Kind::failed;
  std::string content;               // for the model, valid UTF-8, at most output_bytes_max bytes
  std::uint64_t content_length = 0;  // bytes the tool produced; more than content.size() when cut
  std::optional<std::string> user_reply = {};  // what people are told, where it is something else
  std::string level = {};                      // of isolation that was reached: "namespace"
  EgressReport egress = {};  // what the guard decided while it ran: the host's word, not the tool's
  std::shared_ptr<const struct ChildOutcome> child = {};  // of a run that Pawl's own tools start
};

// What a reconcilable tool says about a key.
struct ToolStatus {
  enum class Kind : std::uint8_t { done, absent, unknown };
  Kind kind = Kind::unknown;
  std::string content;  // for done: the result; for unknown: why
};

class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolSpec& spec() const = 0;
  virtual std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                            std::function<void(ToolOutcome)> done) = 0;
  // Only for reconcilable tools. Failing to find out is ToolStatus::unknown.
  virtual std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                            std::function<void(ToolStatus)> done) = 0;
};

// A tool that is a function of the host's. It runs on a thread of a pool; what it throws is a
// failed outcome. A function cannot be killed: one that outlives its timeout is left to itself,
// `invocation.stop` becomes true, and its result is dropped.
using NativeFunction = std::function<Result<std::string>(const ToolInvocation& invocation)>;
// What the model gets, and what people are told in its place.
struct SplitReply {
  std::string content;
  std::string user_reply;
};
using NativeSplitFunction = std::function<Result<SplitReply>(const ToolInvocation& invocation)>;
using NativeStatusFunction = std::function<ToolStatus(const ToolInvocation& invocation)>;

struct NativeTool {
  ToolSpec spec;
  NativeFunction run;
  NativeStatusFunction status;     // reconcilable tools only
  NativeSplitFunction split = {};  // in place of `run`
};

}  // namespace pawl
