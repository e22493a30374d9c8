// Reads the chunks, or the body, of POST /v1/chat/completions, of OpenAI and of those who nearly
// speak its dialect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/base/json.h"

namespace pawl::provider {

// More than this make a reply an error. A reply may have 256 blocks.
inline constexpr std::size_t kChatCallsMax = 1024;

struct ChatCall {
  std::optional<std::uint64_t> index;
  std::string id;
  std::string name;
  std::string arguments;
};

// The calls of one reply, put together from fragments. OpenAI numbers them; other servers leave out
// the number, the id or both, send a call whole, or send it again.
class ChatCalls {
 public:
  // One element of "tool_calls". Gives back what it added to the arguments of the first call, which
  // is the one that can be shown while it is written.
  Result<std::string> add(const Json& fragment);

  const std::vector<ChatCall>& all() const { return calls_; }
  // Of all names and arguments, and one for each call.
  std::size_t bytes() const { return bytes_; }

 private:
  Result<ChatCall*> call_for(const Json& fragment, std::string_view name, std::string_view text);

  std::vector<ChatCall> calls_;
  std::size_t bytes_ = 0;
};

class ChatDecoder final : public ReplyDecoder {
 public:
  ChatDecoder(const PhaseExecutionRequest& request, const WireOptions& options)
      : options_(options), names_(request.tools) {}

  Status on_event(std::string_view type, std::string_view data,
                  const PhaseEventSink& sink) override;
  Status on_whole(std::string_view body, const PhaseEventSink& sink) override;
  std::uint64_t progress() const override { return progress_; }
  bool complete() const override { return done_ == Done::yes || failure_.has_value(); }
  // Calls are proposed here: until the end another chunk could belong to them, or an error come.
  std::variant<PhaseReplied, PhaseFailed> finish(const PhaseEventSink& sink) override;

 private:
  Status on_chunk(const Json& chunk, const PhaseEventSink& sink);
  Status on_choice(const Json& choice, const PhaseEventSink& sink);
  Status on_message(const Json& message, const PhaseEventSink& sink);
  Status on_call(const Json& fragment, const PhaseEventSink& sink);
  void on_content(const Json& content, const PhaseEventSink& sink);
  void say(std::string_view text, const PhaseEventSink& sink);
  void think(std::string_view text, const PhaseEventSink& sink);
  void on_usage(const Json& chunk, const PhaseEventSink& sink);
  ReplyStop stop() const;
  std::optional<PhaseFailed> failed() const;
  void propose(const ChatCall& call, const PhaseEventSink& sink);

  const WireOptions options_;
  const WireToolNames names_;
  ChatCalls calls_;
  std::string model_;
  std::string finish_reason_;
  std::string refusal_;
  std::optional<Usage> usage_;
  std::optional<PhaseFailed> failure_;
  enum class Done : std::uint8_t { no, yes } done_ = Done::no;
  enum class Said : std::uint8_t { nothing, text } said_ = Said::nothing;
  std::uint64_t progress_ = 0;
};

}  // namespace pawl::provider
