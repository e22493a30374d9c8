// A provider's harness behind one interface. For a provider one execute_phase() is one model call;
// the kernel runs the tools. Executors know nothing of what they are used for.
//
// Contract, checked by tests/contract/executor_contract.h:
//  - execute_phase() reports events on the loop thread, never from inside the call itself: any
//    number of deltas and calls, at least one UsageReported, then exactly one PhaseDone, whatever
//    happens: success, failure, abort.
//  - After Operation::abort() the PhaseDone comes within a second. After destroying the Operation
//    nothing comes.
//  - supports() and list_models() do no I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/base/result.h"
#include "pawl/kernel/ids.h"
#include "pawl/kernel/tool_spec.h"
#include "pawl/kernel/transcript.h"
#include "pawl/kernel/usage.h"
#include "pawl/kernel/words.h"
#include "pawl/port/loop.h"

namespace pawl {

// How a conversation goes on after a restart. Exactly one must be supported.
struct ExecutorCapabilities {
  bool supports_native_subagents = false;
  bool supports_claude_md_native_walk_up = false;
  bool supports_native_file_tools = false;
  bool supports_session_resume = false;
  bool supports_conversation_replay = false;
  bool supports_thinking = false;
  bool supports_image_input = false;
  std::uint64_t max_context_tokens = 0;  // 0: not stated

  friend bool operator==(const ExecutorCapabilities&, const ExecutorCapabilities&) = default;
};

// Refuses a declaration with no resume strategy or with two.
Status check_capabilities(const ExecutorCapabilities& capabilities);

struct ExecutorModelDescriptor {
  std::string id;
  std::string display_name;
  std::uint64_t context_tokens = 0;
  std::string tier;  // may be empty
  Prices prices;
};

// The conversation so far. It does not change while a phase executes. Contents are whole: nothing
// is left by reference.
class Transcript {
 public:
  virtual ~Transcript() = default;
  virtual std::size_t length() const = 0;
  virtual Result<Message> at(std::size_t index) const = 0;
};

struct PhaseExecutionRequest {
  RunId run;
  InstanceId instance = kRootInstance;
  std::uint64_t step = 0;
  std::uint32_t attempt = 1;
  std::uint64_t position = 0;  // model calls of this instance whose outcome is journaled
  std::string model;
  std::string system_prompt;  // final; nothing is to be prepended
  std::string note;           // for this call only, e.g. that few steps remain; may be empty
  std::shared_ptr<const Transcript> transcript;
  std::vector<ToolSpec> tools;
  std::string session;  // resume handle of an earlier phase, for executors that resume sessions
};

// Events of a phase.
struct SessionStarted {
  std::string session;
};
struct TextDelta {
  std::string text;
};
struct ThinkingDelta {
  std::string text;
  std::string signature;  // on the last delta of a block, when the provider has one
};
struct ToolInputDelta {  // of the call that the next ToolCallProposed will complete
  std::string text;
};
struct ToolCallProposed {  // ends the text or thinking block before it
  std::string tool;
  std::string input;  // JSON, the bytes received
  std::string provider_id;
};
struct RawProduced {
  std::string json;
};
struct UsageReported {  // cumulative for the phase: the last one counts
  Usage usage;
};
struct PhaseLog {
  std::string text;
};
struct PhaseReplied {
  ReplyStop stop = ReplyStop::end_turn;
  std::string detail;
  std::string model;          // which answered
  std::string metadata = {};  // JSON, for a suspend; may be empty
};
struct PhaseFailed {
  ErrorCategory category = ErrorCategory::llm_error;
  std::string message;
  std::optional<std::uint64_t> retry_after_ms;
};
struct PhaseAborted {};
struct PhaseDone {
  std::variant<PhaseReplied, PhaseFailed, PhaseAborted> outcome;
};
using PhaseExecutorEvent =
    std::variant<SessionStarted, TextDelta, ThinkingDelta, ToolInputDelta, ToolCallProposed,
                 RawProduced, UsageReported, PhaseLog, PhaseDone>;
using PhaseEventSink = std::function<void(PhaseExecutorEvent)>;

class Executor {
 public:
  virtual ~Executor() = default;
  virtual const ExecutorCapabilities& capabilities() const = 0;
  virtual std::vector<ExecutorModelDescriptor> list_models() const = 0;
  virtual bool supports(std::string_view model) const = 0;
  virtual std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                                   PhaseEventSink sink) = 0;
};

}  // namespace pawl
