// What passes between a model, its tools and people: contents, the blocks and messages
// made of them, descriptions of tools, and verdicts about calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/ids.h"
#include "pawl/result.h"
#include "pawl/words.h"

namespace pawl {

// --- Bytes that came from outside: kept as received, and by reference once they are large.

// Longer bytes go to the blob store before the kernel sees them.
inline constexpr std::size_t kInlineBytesMax = 4096;

struct BlobRef {
  Digest digest;
  std::uint64_t length = 0;

  friend bool operator==(const BlobRef&, const BlobRef&) = default;
};

struct Content {
  std::variant<std::string, BlobRef> held;

  Content() = default;
  explicit Content(std::string bytes) : held(std::move(bytes)) {}
  explicit Content(BlobRef ref) : held(ref) {}

  const std::string* bytes() const { return std::get_if<std::string>(&held); }
  const BlobRef* blob() const { return std::get_if<BlobRef>(&held); }
  std::uint64_t length() const;
  bool empty() const { return length() == 0; }
  // Inline bytes and a blob of the same bytes have the same digest.
  Digest digest() const;

  friend bool operator==(const Content&, const Content&) = default;
};

// --- The verdict about a call before it may run, with the stage and rule that gave it. The gate
// judges; the kernel decides what follows.

enum class CallVerdict : std::uint8_t {
  undecided,  // somebody has still to be asked, a script or a hook: see JudgeCall
  allow,
  ask,  // a person
  deny,
};

// Which part of the pipeline had the last word. In this order they are passed.
enum class GateStage : std::uint8_t {
  none,
  allow_list,
  trust,  // trust level and permission bits
  rule,   // guardrail rules, and the scripts they name
  shell,  // what a command's text says
  hook,   // pre-tool-use
  approval_policy,
  person,
  expiry,  // nobody answered in time
};

// What a run that waits for a person wants of them.
enum class InterruptKind : std::uint8_t {
  approval,  // may this be done?
  input,     // an answer, which becomes the call's result
  custom,    // of the host's own; any decision will do
};

enum class InterruptDecision : std::uint8_t { approve, reject, input };

// Whose approval counts.
enum class Approvers : std::uint8_t {
  anyone,
  others,  // a person whose signature was verified, and who did not start the run
  listed,  // a person whose signature was verified
};

// A person who may approve, by name, with the public keys that are theirs ("ed25519:…").
struct Signer {
  std::string name;
  std::vector<std::string> keys;

  PAWL_FACT(Signer, "signer", PAWL_FIELD(name) PAWL_FIELD(keys));
};

// A question that nobody has answered for this long is answered with no.
inline constexpr std::uint64_t kApprovalLifeMaxMs = 400ULL * 24 * 3600 * 1000;

// So many different calls that people denied are remembered, the latest ones. What people may be
// asked at all is in kernel/rules.h.
inline constexpr std::size_t kDenialsKeptMax = 64;

struct CallJudgement {
  CallVerdict verdict = CallVerdict::undecided;
  GateStage stage = GateStage::none;
  std::string rule;    // its id
  std::string reason;  // deny: what the model reads; ask: what the person reads
  InterruptKind kind = InterruptKind::approval;
  std::optional<Digest> binding;  // what exactly an approval would be for
  std::uint64_t expires_ms = 0;   // after it was asked; 0: never

  static CallJudgement allowed() {
    return {CallVerdict::allow, GateStage::none, {}, {}, {}, {}, 0};
  }

  PAWL_FACT(CallJudgement, "judgement",
            PAWL_FIELD(verdict) PAWL_FIELD(stage) PAWL_FIELD(rule) PAWL_FIELD(reason)
                PAWL_FIELD(kind) PAWL_FIELD(binding) PAWL_FIELD(expires_ms));
};

template <>
inline constexpr std::uint8_t kCount<CallVerdict> = 4;
template <>
inline constexpr std::uint8_t kCount<GateStage> = 9;
template <>
inline constexpr std::uint8_t kCount<InterruptKind> = 3;
template <>
inline constexpr std::uint8_t kCount<InterruptDecision> = 3;
template <>
inline constexpr std::uint8_t kCount<Approvers> = 3;

std::string_view name(CallVerdict value);
std::string_view name(GateStage value);
std::string_view name(InterruptKind value);
std::string_view name(InterruptDecision value);
std::string_view name(Approvers value);

// More blocks than this make a reply an error, not a run.
inline constexpr std::size_t kBlocksPerReplyMax = 256;

struct TextBlock {
  Content text;

  PAWL_FACT(TextBlock, "text", PAWL_FIELD(text));
};

struct ThinkingBlock {
  Content text;
  std::string signature;  // opaque; replayed unmodified

  PAWL_FACT(ThinkingBlock, "thinking", PAWL_FIELD(text) PAWL_FIELD(signature));
};

struct CallBlock {
  std::string tool;
  Content input;                 // JSON, the bytes received
  std::string provider_id;       // the provider's own id of the call: an attribute, never a key
  std::string fault;             // why the input is not acceptable for the tool; empty when it is
  std::string signature = {};    // opaque, of the provider that wrote it; replayed unmodified
  CallJudgement judgement = {};  // by this process, whatever the block came with

  PAWL_FACT(CallBlock, "call",
            PAWL_FIELD(tool) PAWL_FIELD(input) PAWL_FIELD(provider_id) PAWL_FIELD(fault)
                PAWL_FIELD(signature) PAWL_FIELD(judgement));
};

// A block of a kind Pawl does not know: passed through.
struct RawBlock {
  Content json;

  PAWL_FACT(RawBlock, "raw", PAWL_FIELD(json));
};

// An image or a file that comes with a message for the model.
inline constexpr std::size_t kAttachmentsMax = 64;
inline constexpr std::size_t kAttachmentBytesMax = 32U << 20U;

struct Attachment {
  std::string media_type;  // "image/png"
  std::string name;        // may be empty
  Content bytes;

  PAWL_FACT(Attachment, "attachment", PAWL_FIELD(media_type) PAWL_FIELD(name) PAWL_FIELD(bytes));
};

using Block = std::variant<TextBlock, ThinkingBlock, CallBlock, RawBlock>;

enum class Speaker : std::uint8_t { user, assistant };

enum class Role : std::uint8_t { user, assistant, tool };
std::string_view name(Role value);

struct Message {
  Role role = Role::user;
  std::vector<Block> blocks;  // assistant
  std::string model = {};     // assistant: who wrote it, "anthropic/claude-…"; or empty
  std::vector<Attachment> attachments = {};                                   // user
  Content text;                                                               // user and tool
  CallId call{};                                                              // tool
  enum class Outcome : std::uint8_t { fine, error } outcome = Outcome::fine;  // tool
  // user: lines of Pawl's own before the text, which names its sender, and behind it.
  std::string heading = {};
  std::string ending = {};

  friend bool operator==(const Message&, const Message&) = default;
};

// --- What the kernel knows of a tool. Tools of every origin (native, command, MCP) are described
// alike.

// What may be done about a call whose outcome nobody knows.
enum class EffectClass : std::uint8_t {
  pure,          // no effect: run it again
  idempotent,    // takes our key: run it again with the same key
  reconcilable,  // can be asked by key what happened
  once,          // nothing: a person, or the model, must be told
};

enum class OnDoubt : std::uint8_t {
  wait,        // the run waits until somebody resolves the call
  tell_model,  // the model gets an outcome_unknown result
};

// A terminal tool: when it has succeeded the turn is over, and its result is the answer.
enum class EndsTurn : std::uint8_t { no, yes };

inline constexpr std::int64_t kToolTimeoutDefaultMs = 30'000;
inline constexpr std::int64_t kToolTimeoutMaxMs = 24LL * 3600 * 1000;
inline constexpr std::uint64_t kToolOutputDefaultBytes = 64U << 10U;
inline constexpr std::uint64_t kToolOutputMaxBytes = 16U << 20U;
inline constexpr std::size_t kToolNameBytesMax = 128;

struct ToolSpec {
  std::string name;  // may carry a namespace: mcp__github__search
  std::string description;
  std::string input_schema = "{}";  // JSON text
  EffectClass effect = EffectClass::once;
  OnDoubt on_doubt = OnDoubt::wait;
  std::int64_t timeout_ms = kToolTimeoutDefaultMs;
  std::uint64_t output_bytes_max = kToolOutputDefaultBytes;  // shown to the model
  EndsTurn ends_turn = EndsTurn::no;
  ToolScope scope = ToolScope::charter;  // where the definition stands
  std::string owner = {};                // the node or the pack that it stands in

  friend bool operator==(const ToolSpec&, const ToolSpec&) = default;
};

// Tells definitions of one name in several scopes apart; of the charter's own it is the name.
std::string definition_key(const std::string& name, ToolScope scope, const std::string& owner);

// A connection that a call asked for, and what the egress guard said.
struct EgressNote {
  std::string target;   // "example.org:443"
  std::string verdict;  // "allowed", "refused", "unresolved"
  std::string detail;   // the address, or why not

  PAWL_FACT(EgressNote, "egress_note", PAWL_FIELD(target) PAWL_FIELD(verdict) PAWL_FIELD(detail));
};

// All that it said while a call ran. Written by the host, never by the tool.
struct EgressReport {
  std::vector<EgressNote> notes;
  std::uint64_t left_out = 0;  // when there were too many

  PAWL_FACT(EgressReport, "egress", PAWL_FIELD(notes) PAWL_FIELD(left_out));
};

std::string_view name(EffectClass effect);
std::string_view name(OnDoubt policy);
std::string_view name(EndsTurn value);
Result<EffectClass> parse_effect_class(std::string_view text);
Result<OnDoubt> parse_on_doubt(std::string_view text);

}  // namespace pawl
