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
#include <memory>
#include <optional>
#include <string>

#include "pawl/base/result.h"
#include "pawl/kernel/events.h"
#include "pawl/kernel/ids.h"
#include "pawl/kernel/tool_spec.h"
#include "pawl/port/loop.h"
#include "pawl/port/services.h"

namespace pawl {

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
    waits,      // the run that it started waits, and nothing is under way: it is called again later
  };
  Kind kind = Kind::failed;
  std::string content;               // for the model, valid UTF-8, at most output_bytes_max bytes
  std::uint64_t content_length = 0;  // bytes the tool produced; more than content.size() when cut
  std::optional<std::string> user_reply = {};  // what people are told, where it is something else
  std::string level = {};                      // of isolation that was reached: "namespace"
  EgressReport egress = {};  // what the guard decided while it ran: the host's word, not the tool's
  std::optional<TreeBooks> books = {};  // of the run that it started
  WaitFor wait = WaitFor::nothing;      // of one that waits
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

}  // namespace pawl
