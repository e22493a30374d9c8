// The items of a response's output, given out in the order of their index however they arrive: live
// while they are the first that is not finished, and as they finally are once they are. From the
// first call on everything waits for the end of the response: an error may come before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/executor.h"
#include "pawl/json.h"

namespace pawl::provider {

// More than this make a response an error. A reply may have 256 blocks.
inline constexpr std::size_t kOutputItemsMax = 1024;

class ResponsesItems {
 public:
  enum class Kind : std::uint8_t { message, reasoning, function_call, other };
  enum class Ending : std::uint8_t { completed, incomplete };

  explicit ResponsesItems(const std::vector<ToolSpec>& tools) : names_(tools) {}

  // `type` is that of the item.
  Status added(std::uint64_t index, std::string_view type);
  // `part` tells the parts of one item apart: paragraphs of a summary.
  Status delta(std::uint64_t index, Kind kind, std::string_view part, std::string_view text,
               const PhaseEventSink& sink);
  Status done(std::uint64_t index, Json item, const PhaseEventSink& sink);
  // The response is over; `output` is its list of items. What was never finished is text that was
  // cut short, or nothing.
  Status close(const JsonArray& output, Ending ending, const PhaseEventSink& sink);

  std::size_t calls() const { return calls_; }
  // It said something: a thought alone is no answer.
  bool answered() const { return answered_; }
  bool refused() const { return refused_; }
  const std::string& refusal() const { return refusal_; }

 private:
  struct Item {
    Kind kind = Kind::other;
    std::string live;         // what deltas said so far
    std::string live_part;    // the part of the last one
    std::size_t emitted = 0;  // of `live`
    std::optional<Json> whole = std::nullopt;
  };

  void emit(PhaseExecutorEvent event, const PhaseEventSink& sink);
  Result<Item*> open_item(std::uint64_t index);
  void give_live(Item& item, const PhaseEventSink& sink);
  Status give_finished(const PhaseEventSink& sink);
  Status give(Item& item, const PhaseEventSink& sink);
  Status give_message(Item& item, const PhaseEventSink& sink);
  void give_reasoning(Item& item, const PhaseEventSink& sink);
  void give_call(Item& item);

  const WireToolNames names_;
  std::map<std::uint64_t, Item> items_;
  std::vector<PhaseExecutorEvent> held_;  // the first is a call
  std::uint64_t head_ = 0;                // the first index that is not given out yet
  std::size_t calls_ = 0;
  std::size_t cut_calls_ = 0;  // whose arguments end in their middle
  bool answered_ = false;
  bool refused_ = false;
  std::string refusal_;
};

ResponsesItems::Kind item_kind(std::string_view type);

}  // namespace pawl::provider
