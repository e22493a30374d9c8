// A provider's harness behind one interface. For a provider one execute_phase() is one model call;
// the kernel runs the tools. Executors know nothing of what they are used for.
//
// Contract, checked by tests/contract/executor_contract.h:
//  - execute_phase() reports events on the loop thread, never from inside the call itself: any
//    number of deltas and calls, at least one UsageReported, then exactly one PhaseDone, whatever
//    happens: success, failure, abort.
//  - After Operation::abort() the PhaseDone comes within a second. After destroying the Operation
//    nothing comes.
//  - supports(), list_models(), capabilities_of() and health() do no I/O.
//  - chat() is execute_phase() without tools, sessions and transcript: text, usage, one end.
//  - Only an executor with supports_native_file_tools or another native loop runs tools itself. It
//    asks check(hook_policy, …) before each, reports NativeToolResult for each, and obeys.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/content.h"
#include "pawl/ids.h"
#include "pawl/limits.h"
#include "pawl/loop.h"
#include "pawl/result.h"
#include "pawl/tool.h"
#include "pawl/words.h"

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
  Prices prices;
  std::uint64_t max_output_tokens = 0;  // 0: not stated
  enum class Support : std::uint8_t { no, yes };
  Support thinking = Support::no;
  Support images = Support::no;
  Support temperature = Support::yes;
  Support structured_output = Support::no;
  Support priced = Support::no;  // somebody has said what it costs, if only that it costs nothing
};

// What a call of an executor's own tool must pass before it runs.
struct HookDecision {
  enum class Verdict : std::uint8_t { allow, deny } verdict = Verdict::allow;
  std::string reason;  // worded for the model, so that it can correct itself
};
struct HookPolicy {
  std::optional<std::vector<std::string>> allowed_tools;  // nullopt: no list
  // Absolute, normal; see write_guard.h. nullopt: not bounded, empty: nothing may be written.
  std::optional<std::vector<std::string>> write_roots;
  std::string directory;  // absolute: where relative paths in arguments start
  std::function<HookDecision(const std::string& tool, const std::string& input)> on_pre_tool_use;
};
// The allow-list, the write roots, then on_pre_tool_use; one that throws denies.
HookDecision check(const HookPolicy& policy, const std::string& tool, const std::string& input);

struct McpServerConfig {
  std::string name;
  std::vector<std::string> command;  // stdio; or
  std::string url;                   // Streamable HTTP
};

struct SubagentSpec {
  std::string name;
  std::string description;
  std::string system_prompt;
  std::string model;                       // empty: the parent's
  std::vector<std::string> allowed_tools;  // a subset of the parent's
};

struct MessageRange {
  std::size_t first = 0;
  std::size_t count = std::numeric_limits<std::size_t>::max();  // at most
};

// What an executor made of a conversation, to be used again by a later phase.
class KeptWork {
 public:
  virtual ~KeptWork() = default;
  virtual std::size_t bytes() const = 0;  // of memory, about
};

// The conversation so far. It does not change while a phase executes.
class Transcript {
 public:
  virtual ~Transcript() = default;
  virtual std::size_t length() const = 0;
  // The messages of the range, read from the store. Contents are whole: nothing is left by
  // reference, so a caller holds them no longer than it needs them. An executor that waits for its
  // turn loads when it is its turn, before it encodes anything.
  virtual Result<std::vector<Message>> load(MessageRange range) const = 0;

  // Whoever owns the conversation may keep an executor's work beside it, under a name. It is there
  // again while the messages that it was made of are the beginning of the conversation, unless the
  // memory was wanted. Taken out it is the caller's, who puts it back. By default nothing is kept.
  virtual std::unique_ptr<KeptWork> take_work(std::string_view) const { return nullptr; }
  virtual void keep_work(std::string_view, std::unique_ptr<KeptWork>) const {}
};

// A conversation that is in memory.
std::shared_ptr<const Transcript> make_transcript(std::vector<Message> messages);

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
  std::size_t session_length = 0;  // messages of the transcript that the session knows already
  SamplingOptions sampling;
  std::string output_schema;  // JSON Schema the final text must fit; empty: any text
  HookPolicy hook_policy;
  std::vector<McpServerConfig> mcp_servers;
  std::vector<SubagentSpec> subagents;
  std::string working_directory;
  std::string tenant = "default";
  Usage reserved;  // what the run has set aside for this call: its input, and the longest reply
  OnBehalf on_behalf = {};
};

// Of memory, about.
std::size_t bytes_of(const Message& message);

// All messages of the request's conversation; none where it has no transcript.
Result<std::vector<Message>> load_conversation(const PhaseExecutionRequest& request);

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
  std::string signature = {};  // see CallBlock
};
struct NativeToolResult {  // of an executor that runs tools itself
  std::string tool;
  std::string content;
  enum class Outcome : std::uint8_t { fine, error } outcome = Outcome::fine;
  std::string input = {};  // JSON, what the tool was given; may be empty
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
  std::optional<std::uint64_t> retry_after_ms = std::nullopt;
  FailureKind kind = FailureKind::transient;
};
struct PhaseAborted {};
struct PhaseDone {
  std::variant<PhaseReplied, PhaseFailed, PhaseAborted> outcome;
};
using PhaseExecutorEvent =
    std::variant<SessionStarted, TextDelta, ThinkingDelta, ToolInputDelta, ToolCallProposed,
                 RawProduced, UsageReported, PhaseLog, NativeToolResult, PhaseDone>;
using PhaseEventSink = std::function<void(PhaseExecutorEvent)>;

struct ChatMessage {
  Role role = Role::user;  // user or assistant
  std::string text;
};
struct ChatRequest {
  std::string model;
  std::string system_prompt;
  std::vector<ChatMessage> messages;
  SamplingOptions sampling;
  std::string output_schema;
  std::string tenant = "default";
};

// What is configured and what is missing, without asking anybody.
struct ExecutorHealth {
  Status status = ok();
  std::string detail;  // "https://api.anthropic.com, key from environment variable …"
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual const ExecutorCapabilities& capabilities() const = 0;
  virtual std::vector<ExecutorModelDescriptor> list_models() const = 0;
  virtual bool supports(std::string_view model) const = 0;
  virtual std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                                   PhaseEventSink sink) = 0;

  // Of one model: what the executor can do and the model cannot is taken away.
  virtual ExecutorCapabilities capabilities_of(std::string_view model) const;
  // Optional. In 10^-12 units; nullopt: by the price list.
  virtual std::optional<std::uint64_t> calculate_cost(const std::string& tenant,
                                                      std::string_view model,
                                                      const Usage& usage) const;
  // Optional. By default a phase with the messages as its transcript and no tools.
  virtual std::unique_ptr<Operation> chat(const ChatRequest& request, PhaseEventSink sink);
  // Optional: an MCP server of the executor's own, for the runs that use it.
  virtual std::optional<McpServerConfig> mcp_server() const { return std::nullopt; }
  // Of an executor that stands for several: those of all. By default the one above.
  virtual std::vector<McpServerConfig> mcp_servers() const;
  virtual ExecutorHealth health() const { return {}; }
  // One live request that proves the credentials. `done` is called once, on the loop thread.
  virtual std::unique_ptr<Operation> test_connection(std::function<void(Status)> done);
};

// --- Sums up a part of a conversation that has become too long. A host may bring its own; by
// default the run's model does it.
//
// `done` is called once, on the loop thread, never from inside compact(); not after the Operation
// is destroyed.

struct CompactionRequest {
  RunId run;
  std::string tenant;
  std::string model;                             // which the run would use
  std::shared_ptr<const Transcript> transcript;  // what is to be summed up, whole
  std::uint64_t summary_tokens_max = 0;
  std::string instructions = {};  // by the run's rules, for a model that writes it
};

struct CompactionOutcome {
  enum class Charge : std::uint8_t {
    usage,     // what was used is known
    reserved,  // the reply was lost: the provider may have worked to the end
  };
  Result<std::string> summary = std::string();
  std::string model;
  Usage usage;  // also of what failed
  Charge charge = Charge::usage;
};

class Compactor {
 public:
  virtual ~Compactor() = default;
  virtual std::unique_ptr<Operation> compact(const CompactionRequest& request,
                                             std::function<void(CompactionOutcome)> done) = 0;
};

// --- Real providers. The component `providers` has them: link pawl::library_providers.

struct ProviderAccess {
  std::string provider;  // by Pawl's name for it: "anthropic", "openai", "gemini", "ollama", …
  // Asked for with each request, so that a new key is used at once. Not needed where the provider
  // wants none.
  std::function<Result<std::string>()> key = {};
  std::string base_url = {};  // empty: the provider's own address
  // What the host knows of models: prices, sizes. Others are asked for, too, if their names fit.
  std::vector<ExecutorModelDescriptor> models = {};
};

// An executor for its models, by the ids that the provider has for them. not_found: there is no
// such provider; the error lists those there are. `loop` is Runner::sockets(), and outlives it.
Result<std::shared_ptr<Executor>> make_provider(ProviderAccess access, SocketLoop& loop);

}  // namespace pawl
