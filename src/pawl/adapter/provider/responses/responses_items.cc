#include "pawl/adapter/provider/responses/responses_items.h"

#include <utility>

#include "pawl/adapter/provider/openai/openai_wire.h"

namespace pawl::provider {
namespace {

Error broken(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == text.npos;
}

std::string joined_texts(const Json* parts) {
  std::string all;
  const JsonArray* list = parts != nullptr ? parts->if_array() : nullptr;
  if (list == nullptr) return all;
  for (const Json& part : *list) {
    const std::string_view text = text_of(part, "text");
    if (text.empty()) continue;
    if (!all.empty()) all += "\n\n";
    all += text;
  }
  return all;
}

bool has_elements(const Json* list) {
  return list != nullptr && list->is_array() && !list->array().empty();
}

bool is_text(ResponsesItems::Kind kind) {
  return kind == ResponsesItems::Kind::message || kind == ResponsesItems::Kind::reasoning;
}

// Whether the provider can make anything of the item when it gets it back: it keeps nothing itself.
bool is_replayable(const Json& reasoning) {
  return !text_of(reasoning, "encrypted_content").empty() ||
         has_elements(reasoning.find("content"));
}

}  // namespace

ResponsesItems::Kind item_kind(std::string_view type) {
  if (type == "message") return ResponsesItems::Kind::message;
  if (type == "reasoning") return ResponsesItems::Kind::reasoning;
  if (type == "function_call") return ResponsesItems::Kind::function_call;
  return ResponsesItems::Kind::other;
}

Status ResponsesItems::added(std::uint64_t index, std::string_view type) {
  if (index < head_ || items_.contains(index)) return broken("an item was added twice");
  if (items_.size() >= kOutputItemsMax) {
    return Error{ErrorCode::limit_exceeded, "more items than a response may have"};
  }
  items_[index].kind = item_kind(type);
  return ok();
}

Result<ResponsesItems::Item*> ResponsesItems::open_item(std::uint64_t index) {
  const auto found = items_.find(index);
  if (found == items_.end()) return broken("a delta of an item that is not open");
  if (found->second.whole) return broken("a delta of an item that is finished");
  return &found->second;
}

Status ResponsesItems::delta(std::uint64_t index, Kind kind, std::string_view part,
                             std::string_view text, const PhaseEventSink& sink) {
  PAWL_TRY(Item* const item, open_item(index));
  if (item->kind != kind) return broken("a delta of another kind than its item");
  if (item->live_part != part) {
    if (!item->live.empty() && kind == Kind::reasoning) item->live += "\n\n";
    item->live_part = part;
  }
  item->live += text;
  if (index == head_) give_live(*item, sink);
  return ok();
}

Status ResponsesItems::done(std::uint64_t index, Json item, const PhaseEventSink& sink) {
  // An item that was never announced is whole here: nothing is lost, nothing can come twice.
  if (index >= head_ && !items_.contains(index)) PAWL_CHECK(added(index, text_of(item, "type")));
  const auto found = items_.find(index);
  if (found == items_.end() || found->second.whole) return broken("an item was finished twice");
  if (found->second.kind != item_kind(text_of(item, "type"))) {
    return broken("an item changed its kind");
  }
  found->second.whole = std::move(item);
  return give_finished(sink);
}

Status ResponsesItems::give_finished(const PhaseEventSink& sink) {
  for (auto next = items_.find(head_); next != items_.end(); next = items_.find(head_)) {
    give_live(next->second, sink);
    if (!next->second.whole) return ok();
    PAWL_CHECK(give(next->second, sink));
    items_.erase(next);
    ++head_;
  }
  return ok();
}

void ResponsesItems::emit(PhaseExecutorEvent event, const PhaseEventSink& sink) {
  if (held_.empty()) return sink(std::move(event));
  held_.push_back(std::move(event));
}

void ResponsesItems::give_live(Item& item, const PhaseEventSink& sink) {
  std::string text = item.live.substr(item.emitted);
  item.emitted = item.live.size();
  if (text.empty()) return;
  switch (item.kind) {
    case Kind::message:
      answered_ = true;
      return emit(TextDelta{std::move(text)}, sink);
    case Kind::reasoning:
      return emit(ThinkingDelta{std::move(text), ""}, sink);
    case Kind::function_call:
      return emit(ToolInputDelta{std::move(text)}, sink);
    case Kind::other:
      return;
  }
}

Status ResponsesItems::give(Item& item, const PhaseEventSink& sink) {
  switch (item.kind) {
    case Kind::message:
      return give_message(item, sink);
    case Kind::reasoning:
      give_reasoning(item, sink);
      return ok();
    case Kind::function_call:
      give_call(item);
      return ok();
    case Kind::other:
      break;
  }
  answered_ = true;
  emit(RawProduced{write_json(*item.whole)}, sink);
  return ok();
}

Status ResponsesItems::give_message(Item& item, const PhaseEventSink& sink) {
  std::string full;
  const Json* content = item.whole->find("content");
  if (content != nullptr && content->is_array()) {
    for (const Json& part : content->array()) {
      full += text_of(part, "text");
      if (text_of(part, "type") != "refusal") continue;
      refused_ = true;
      refusal_ += text_of(part, "refusal");
      full += text_of(part, "refusal");
    }
  }
  if (std::string_view(full).starts_with(item.live)) {
    item.live = std::move(full);
    give_live(item, sink);
    return ok();
  }
  // The finished item is what counts, but what was shown cannot be taken back.
  const bool same = std::string_view(item.live).starts_with(full) &&
                    (full.empty() || is_blank(std::string_view(item.live).substr(full.size())));
  return same ? ok() : Status(broken("a finished message is not what its deltas said"));
}

void ResponsesItems::give_reasoning(Item& item, const PhaseEventSink& sink) {
  std::string full = joined_texts(item.whole->find("summary"));
  const std::string content = joined_texts(item.whole->find("content"));
  if (!full.empty() && !content.empty()) full += "\n\n";
  full += content;
  std::string rest;
  if (std::string_view(full).starts_with(item.live)) rest = full.substr(item.live.size());
  std::string signature = is_replayable(*item.whole) ? write_json(*item.whole) : std::string();
  if (rest.empty() && signature.empty()) return;
  emit(ThinkingDelta{std::move(rest), std::move(signature)}, sink);
}

void ResponsesItems::give_call(Item& item) {
  const Json& call = *item.whole;
  std::string input(text_of(call, "arguments"));
  if (const Json* object = call.find("arguments"); object != nullptr && object->is_object()) {
    input = write_json(*object);
  }
  if (input.empty()) input = item.live;
  if (input.empty()) input = "{}";
  if (text_of(call, "status") == "incomplete") return;
  if (is_cut_off(input)) {
    ++cut_calls_;
    return;
  }
  const std::string_view id =
      text_of(call, "call_id").empty() ? text_of(call, "id") : text_of(call, "call_id");
  answered_ = true;
  ++calls_;
  held_.emplace_back(
      ToolCallProposed{names_.original(text_of(call, "name")), std::move(input), std::string(id)});
}

Status ResponsesItems::close(const JsonArray& output, Ending ending, const PhaseEventSink& sink) {
  // Indexes of the list are trusted to fill what is open, and to stand for all when nothing came:
  // where a proxy numbers items differently, an item would come twice.
  const bool none_came = items_.empty() && head_ == 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const auto found = items_.find(i);
    const bool open = found != items_.end() && !found->second.whole;
    if (none_came || open) PAWL_CHECK(done(i, output[i], sink));
  }
  for (auto& [index, item] : items_) {
    give_live(item, sink);
    if (item.whole) {
      PAWL_CHECK(give(item, sink));
    } else if (ending == Ending::completed && !is_text(item.kind)) {
      return broken("the response is complete and one of its items is not");
    }
  }
  items_.clear();
  if (cut_calls_ > 0 && ending == Ending::completed) {
    return broken("the arguments of a call end in their middle");
  }
  for (PhaseExecutorEvent& event : held_) sink(std::move(event));
  held_.clear();
  return ok();
}

}  // namespace pawl::provider
