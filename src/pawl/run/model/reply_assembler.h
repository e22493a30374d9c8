// Collects the events of one phase into what the kernel is told: a reply, a failure or an abort.
// Holds executors to their contract: one end, usage before it, bounded size.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "pawl/base/recycled.h"
#include "pawl/executor.h"
#include "pawl/journal/ingress.h"
#include "pawl/journal/record_view.h"
#include "pawl/kernel/events.h"
#include "pawl/tools/tool_registry.h"

namespace pawl {

inline constexpr std::size_t kReplyBytesMax = 32U << 20U;
// A stream is cut that has more bytes than its tokens can have: hardly any text has so many a
// token.
inline constexpr std::uint64_t kBytesPerTokenMax = 16;
inline constexpr std::uint64_t kBeyondCapBytesMax = 4'096;

// Whether so many bytes are more than `tokens_max` tokens can be; 0 tokens: there is no cap.
bool is_beyond_cap(std::uint64_t bytes, std::uint64_t tokens_max);
// What is said of a reply that was cut for it.
std::string cut_off_at(std::uint64_t tokens_max);

class ReplyAssembler {
 public:
  using PreviewSink = std::function<void(Preview::Kind, std::uint64_t offset, std::string text)>;

  // One for each reply: many live at a time, and none for long.
  static void* operator new(std::size_t) { return FreedBlocks<sizeof(ReplyAssembler)>::take(); }
  static void operator delete(void* bytes) { FreedBlocks<sizeof(ReplyAssembler)>::give(bytes); }

  // The key of the definition that the instance means by a tool's name.
  using KeyOf = std::function<std::string(const std::string& tool)>;

  // `output_tokens_max`: what the request allows; 0: as the model says. Without `key_of` names are
  // keys.
  ReplyAssembler(const ToolRegistry& tools, PreviewSink preview, std::uint64_t output_tokens_max,
                 KeyOf key_of = {})
      : tools_(tools),
        preview_(std::move(preview)),
        output_tokens_max_(output_tokens_max),
        key_of_(std::move(key_of)) {}

  // True when the phase is over: take() once then. Whatever comes after is ignored.
  bool add(PhaseExecutorEvent&& event);
  // True once it asks for more room than a reply may have: the phase is to be aborted.
  bool too_large() const { return bytes_ > kReplyBytesMax || blocks_.size() > kBlocksPerReplyMax; }

  // True once it has said more than it was allowed to: the phase is to be aborted, and what it has
  // said is a reply that was cut off.
  bool beyond_cap() const { return is_beyond_cap(output_bytes(), output_tokens_max_); }

  // The text of the reply so far, for callbacks.
  const std::string& text() const { return whole_text_; }

  // The event for the kernel; blobs go to `ingress`.
  Event take(const CallModel& call, Ingress& ingress);

 private:
  struct Draft {
    enum class Kind : std::uint8_t { text, thinking, call, raw } kind = Kind::text;
    std::string bytes;
    std::string extra;  // thinking: signature; call: provider id
    std::string tool;
    std::string signature = {};  // of a call
  };

  void append(Draft::Kind kind, std::string_view text);
  void on(SessionStarted&& event) { session_ = std::move(event.session); }
  void on(TextDelta&& event);
  void on(ThinkingDelta&& event);
  void on(ToolInputDelta&& event);
  void on(ToolCallProposed&& event);
  void on(RawProduced&& event);
  void on(const UsageReported& event) { usage_ = event.usage; }
  void on(const PhaseLog&) {}
  void on(const NativeToolResult& event);
  void on(PhaseDone&& event) { done_ = std::move(event); }
  void add_block(std::vector<Block>& blocks, Draft&& draft, Ingress& ingress) const;
  ModelFailed failure(const CallModel& call, PhaseFailed failed) const;
  bool says_nothing(const PhaseReplied& outcome) const;
  std::uint64_t output_bytes() const;
  ModelReplied cut_off(const CallModel& call, Ingress& ingress);
  ModelReplied reply(const CallModel& call, PhaseReplied outcome, Ingress& ingress);

  const ToolRegistry& tools_;
  PreviewSink preview_;
  std::uint64_t output_tokens_max_;
  KeyOf key_of_;
  std::vector<Draft> blocks_;
  std::string whole_text_;
  std::string session_;
  std::uint64_t bytes_ = 0;
  std::uint64_t text_offset_ = 0;
  std::uint64_t thinking_offset_ = 0;
  std::uint64_t input_offset_ = 0;
  std::uint64_t call_bytes_ = 0;  // inputs of whole calls: not every executor shows them coming
  std::optional<Usage> usage_;
  std::optional<PhaseDone> done_;
};

}  // namespace pawl
