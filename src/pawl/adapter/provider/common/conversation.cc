#include "pawl/adapter/provider/common/conversation.h"

#include <algorithm>
#include <set>
#include <utility>

#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/json.h"

namespace pawl::provider {
namespace {

constexpr std::string_view kBegunBefore = "(continued)";
constexpr std::string_view kGoOn = "(continue)";
constexpr std::string_view kNoResult = "There is no result of this call.";
constexpr std::string_view kOrphan = "Result of an earlier call that is not shown any more:\n";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == text.npos;
}

Result<std::string> whole(const Content& content) {
  if (const std::string* bytes = content.bytes()) return *bytes;
  return Error{ErrorCode::invalid_argument, "a message of the transcript is not whole"};
}

bool is_text(std::string_view media_type) {
  return media_type.starts_with("text/") || media_type.starts_with("application/json");
}

// Pawl's own note of what an executor's tool has done (run/model/reply_assembler.cc). An executor
// that runs tools itself may have had this provider's name; the provider knows no such block.
bool is_native_result(const Json& json) {
  const std::string* type = json.find_string("type");
  return type != nullptr && *type == "native_tool_result";
}

// A block that a provider's own tool left: a turn that ends with one was paused, not ended.
bool is_own_tool(const Part& part) {
  const auto* raw = std::get_if<RawPart>(&part);
  if (raw == nullptr) return false;
  const auto json = parse_json(raw->json);
  const std::string* type = json ? json->find_string("type") : nullptr;
  return type != nullptr &&
         (type->find("tool_use") != type->npos || type->find("tool_result") != type->npos);
}

class Composer {
 public:
  Composer(const PhaseExecutionRequest& request, const std::vector<Message>& messages,
           const WireOptions& options)
      : request_(request), own_prefix_(options.name + "/"), messages_(messages) {
    const bool resumes = options.resume == WireOptions::Resume::session && !request.session.empty();
    first_ = resumes ? request.session_length : 0;
  }

  Result<std::vector<Turn>> compose() {
    for (std::size_t i = 0; i < messages_.size(); ++i) PAWL_CHECK(on_message(i));
    close();
    return std::move(turns_);
  }

 private:
  enum class Writer : std::uint8_t { this_provider, another };

  Status on_message(std::size_t index) {
    switch (messages_[index].role) {
      case Role::user:
        return on_user(index);
      case Role::assistant:
        return on_assistant(index);
      case Role::tool:
        return on_orphan(index);
    }
    return ok();
  }

  Status on_user(std::size_t index) {
    for (const Attachment& attachment : messages_[index].attachments) {
      PAWL_TRY(std::string bytes, whole(attachment.bytes));
      if (is_text(attachment.media_type)) {
        add_text(index, Role::user, attachment.name + ":\n" + bytes);
      } else {
        add(index, Role::user,
            AttachmentPart{attachment.media_type, attachment.name, std::move(bytes)});
      }
    }
    PAWL_TRY(std::string text, whole(messages_[index].text));
    add_text(index, Role::user, std::move(text));
    return ok();
  }

  // The results follow at once, before what the user may have said meanwhile.
  Status on_assistant(std::size_t index) {
    const Message& message = messages_[index];
    const Writer writer =
        message.model.starts_with(own_prefix_) ? Writer::this_provider : Writer::another;
    const auto is_call = [](const Block& b) { return std::holds_alternative<CallBlock>(b); };
    const auto calls = static_cast<std::size_t>(
        std::count_if(message.blocks.begin(), message.blocks.end(), is_call));
    const auto results = results_of(calls, tool_messages_behind(index));
    std::vector<ResultPart> answers;
    for (const Block& block : message.blocks) {
      if (const auto* call = std::get_if<CallBlock>(&block)) {
        PAWL_CHECK(on_call(index, *call, writer, results[answers.size()], answers));
      } else {
        PAWL_CHECK(on_block(index, block, writer));
      }
    }
    for (const Message* result : results) paired_.insert(result);
    // The session may know the calls without their results.
    for (ResultPart& answer : answers) add(index + 1, Role::user, std::move(answer));
    return ok();
  }

  std::vector<const Message*> tool_messages_behind(std::size_t index) const {
    std::vector<const Message*> found;
    for (std::size_t i = index + 1; i < messages_.size(); ++i) {
      if (messages_[i].role == Role::assistant) break;
      if (messages_[i].role == Role::tool) found.push_back(&messages_[i]);
    }
    return found;
  }

  Status on_call(std::size_t index, const CallBlock& call, Writer writer, const Message* result,
                 std::vector<ResultPart>& answers) {
    PAWL_TRY(const std::string input, whole(call.input));
    const bool own = writer == Writer::this_provider;
    CallPart part{ids_.next(own ? call.provider_id : std::string(), result),
                  wire_tool_name(call.tool), object_input(input),
                  own ? call.signature : std::string()};
    ResultPart answer{part.id, part.tool, std::string(kNoResult), Message::Outcome::error};
    if (result != nullptr) {
      PAWL_TRY(answer.text, whole(result->text));
      answer.outcome = result->outcome;
    }
    answers.push_back(std::move(answer));
    add(index, Role::assistant, std::move(part));
    return ok();
  }

  Status on_block(std::size_t index, const Block& block, Writer writer) {
    if (const auto* text = std::get_if<TextBlock>(&block)) {
      PAWL_TRY(std::string bytes, whole(text->text));
      add_text(index, Role::assistant, std::move(bytes));
    }
    if (writer == Writer::another) return ok();
    if (const auto* thinking = std::get_if<ThinkingBlock>(&block)) {
      PAWL_TRY(std::string bytes, whole(thinking->text));
      add(index, Role::assistant, ThinkingPart{std::move(bytes), thinking->signature});
    }
    if (const auto* raw = std::get_if<RawBlock>(&block)) {
      PAWL_TRY(std::string bytes, whole(raw->json));
      const auto json = parse_json(bytes);
      const bool known = json && json->is_object() && !is_native_result(*json);
      if (known) add(index, Role::assistant, RawPart{std::move(bytes)});
    }
    return ok();
  }

  Status on_orphan(std::size_t index) {
    const Message& message = messages_[index];
    if (paired_.contains(&message)) return ok();
    PAWL_TRY(const std::string text, whole(message.text));
    add_text(index, Role::user, std::string(kOrphan) + text);
    return ok();
  }

  void add_text(std::size_t index, Role role, std::string text) {
    if (!is_blank(text)) add(index, role, TextPart{std::move(text)});
  }

  void add(std::size_t index, Role role, Part part) {
    if (index < first_) return;
    if (turns_.empty() || turns_.back().role != role) turns_.push_back({role, {}});
    turns_.back().parts.push_back(std::move(part));
  }

  bool is_paused() const {
    if (messages_.empty() || messages_.back().role != Role::assistant) return false;
    if (turns_.empty() || turns_.back().role != Role::assistant) return false;
    const auto& parts = turns_.back().parts;
    return std::any_of(parts.begin(), parts.end(), is_own_tool);
  }

  void close() {
    const std::size_t end = messages_.size() + first_;
    if (!is_paused()) {
      add_text(end, Role::user, request_.note);
      if (turns_.empty() || turns_.back().role == Role::assistant) {
        add_text(end, Role::user, std::string(kGoOn));
      }
    }
    if (turns_.front().role == Role::assistant) {
      turns_.insert(turns_.begin(), {Role::user, {TextPart{std::string(kBegunBefore)}}});
    }
  }

  const PhaseExecutionRequest& request_;
  const std::string own_prefix_;
  std::size_t first_ = 0;  // Messages before it are known.
  const std::vector<Message>& messages_;
  std::set<const Message*> paired_;  // results that have been given to their calls
  WireCallIds ids_;
  std::vector<Turn> turns_;
};

bool is_wire_id(std::string_view id) {
  return !id.empty() && id.size() <= kWireCallIdBytesMax &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

std::uint64_t number(const Message& message) {
  return static_cast<std::uint64_t>(message.call);
}

}  // namespace

Result<std::vector<Turn>> conversation_of(const PhaseExecutionRequest& request,
                                          const std::vector<Message>& messages,
                                          const WireOptions& options) {
  return Composer(request, messages, options).compose();
}

std::string object_input(std::string_view input) {
  if (is_blank(input)) return "{}";
  const auto json = parse_json(input);
  if (json && json->is_object()) return std::string(input);
  return JsonWriter().begin_object().field("_invalid_json", input).end_object().take();
}

std::vector<const Message*> results_of(std::size_t calls,
                                       std::vector<const Message*> tool_messages) {
  std::vector<const Message*> places(calls, nullptr);
  const auto before = [](const Message* a, const Message* b) { return a->call < b->call; };
  std::stable_sort(tool_messages.begin(), tool_messages.end(), before);
  const auto same = [](const Message* a, const Message* b) { return a->call == b->call; };
  tool_messages.erase(std::unique(tool_messages.begin(), tool_messages.end(), same),
                      tool_messages.end());
  if (tool_messages.empty()) return places;
  const std::uint64_t first = number(*tool_messages.front());
  const bool numbered = number(*tool_messages.back()) - first < calls;
  for (std::size_t rank = 0; rank < tool_messages.size(); ++rank) {
    const std::uint64_t place = numbered ? number(*tool_messages[rank]) - first : rank;
    if (place < calls) places[place] = tool_messages[rank];
  }
  return places;
}

std::string WireCallIds::next(const std::string& provider_id, const Message* result) {
  ++calls_;
  if (is_wire_id(provider_id) && used_.insert(provider_id).second) return provider_id;
  const std::string plain = "call_" + std::to_string(result != nullptr ? number(*result) : calls_);
  std::string id = plain;
  // At most as many rounds as there are calls: each id that is taken belongs to one.
  for (std::uint64_t n = 2; !used_.insert(id).second; ++n) id = plain + "_" + std::to_string(n);
  return id;
}

}  // namespace pawl::provider
