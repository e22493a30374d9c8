#include "pawl/adapter/provider/chat/chat_calls.h"

#include <algorithm>

#include "pawl/adapter/provider/openai/openai_wire.h"

namespace pawl::provider {
namespace {

bool is_whole_object(std::string_view json) {
  return json.starts_with('{') && check_json(json);
}

// Whether a fragment with this id, name and text can belong to `call`.
bool goes_on(const ChatCall& call, std::string_view id, std::string_view name,
             std::string_view text) {
  if (!id.empty() && !call.id.empty()) return id == call.id;
  if (name.empty() || call.name.empty()) return true;
  if (name != call.name) return false;
  // Some servers say the name with every fragment, some say the whole call twice, others send calls
  // with nothing but their arguments to tell them apart.
  return !is_whole_object(call.arguments) || text.empty() || text == call.arguments;
}

}  // namespace

Result<ChatCall*> ChatCalls::call_for(const Json& fragment, std::string_view name,
                                      std::string_view text) {
  const std::string_view id = text_of(fragment, "id");
  const Json* const number = member_of(fragment, "index");
  const auto index = number != nullptr ? number->as_uint64() : std::nullopt;
  // From behind: where servers number all calls 0, the last one is meant.
  const auto known = std::find_if(calls_.rbegin(), calls_.rend(), [&](const ChatCall& call) {
    if (index && call.index != index) return false;
    return goes_on(call, id, name, text);
  });
  const bool may_be_any = index.has_value() || !id.empty();
  if (known != calls_.rend() && (may_be_any || known == calls_.rbegin())) return &*known;
  if (calls_.size() >= kChatCallsMax) {
    return Error{ErrorCode::limit_exceeded, "more calls than a reply may have"};
  }
  calls_.push_back({index, "", "", ""});
  ++bytes_;
  return &calls_.back();
}

Result<std::string> ChatCalls::add(const Json& fragment) {
  const Json* const function = member_of(fragment, "function");
  const std::string_view name = function != nullptr ? text_of(*function, "name") : "";
  const Json* const given = function != nullptr ? member_of(*function, "arguments") : nullptr;
  std::string text;
  if (given != nullptr) text = given->is_string() ? given->string() : write_json(*given);
  PAWL_TRY(ChatCall* const call, call_for(fragment, name, text));
  if (call->id.empty()) call->id = text_of(fragment, "id");
  if (call->name.empty()) {
    call->name = name;
    bytes_ += name.size();
  }
  // The whole call once more, at the end of the stream.
  if (text == call->arguments && is_whole_object(text)) return std::string();
  call->arguments += text;
  bytes_ += text.size();
  return call == &calls_.front() ? std::move(text) : std::string();
}

}  // namespace pawl::provider
