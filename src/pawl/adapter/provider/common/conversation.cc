#include "pawl/adapter/provider/common/conversation.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/json.h"

namespace pawl::provider {
namespace {

constexpr std::string_view kBegunBefore = "(continued)";
constexpr std::string_view kGoOn = "(continue)";
constexpr std::string_view kNoResult = "There is no result of this call.";
constexpr std::size_t kBytesOfAnId = 96;  // of memory, beside its own
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

void add_part(std::vector<Turn>& turns, Role role, Part part) {
  if (turns.empty() || turns.back().role != role) turns.push_back({role, {}});
  turns.back().parts.push_back(std::move(part));
}

// Of one stretch.
class Composer {
 public:
  Composer(const Stretch& stretch, const ComposeRules& rules, WireCallIds& ids)
      : messages_(stretch.messages), index_(stretch.index), rules_(rules), ids_(ids) {}

  Result<std::vector<Turn>> compose() {
    for (std::size_t i = 0; i < messages_.size(); ++i) PAWL_CHECK(on_message(i));
    return std::move(turns_);
  }

 private:
  enum class Writer : std::uint8_t { this_provider, another };

  Status on_message(std::size_t at) {
    switch (messages_[at].role) {
      case Role::user:
        return on_user(at);
      case Role::assistant:
        return on_assistant(at);
      case Role::tool:
        return on_orphan(at);
    }
    return ok();
  }

  Status on_user(std::size_t at) {
    for (const Attachment& attachment : messages_[at].attachments) {
      PAWL_TRY(std::string bytes, whole(attachment.bytes));
      if (is_text(attachment.media_type)) {
        add_text(at, Role::user, attachment.name + ":\n" + bytes);
      } else {
        add(at, Role::user,
            AttachmentPart{attachment.media_type, attachment.name, std::move(bytes)});
      }
    }
    PAWL_TRY(std::string text, whole(messages_[at].text));
    add_text(at, Role::user, std::move(text));
    return ok();
  }

  // The results follow at once, before what the user may have said meanwhile.
  Status on_assistant(std::size_t at) {
    PAWL_ASSERT(at == 0);  // of a stretch
    const Message& message = messages_[at];
    const Writer writer =
        message.model.starts_with(rules_.own_prefix) ? Writer::this_provider : Writer::another;
    const auto is_call = [](const Block& b) { return std::holds_alternative<CallBlock>(b); };
    const auto calls = static_cast<std::size_t>(
        std::count_if(message.blocks.begin(), message.blocks.end(), is_call));
    const auto results = results_of(calls, tool_messages());
    std::vector<ResultPart> answers;
    for (const Block& block : message.blocks) {
      if (const auto* call = std::get_if<CallBlock>(&block)) {
        PAWL_CHECK(on_call(*call, writer, results[answers.size()], answers));
      } else {
        PAWL_CHECK(on_block(block, writer));
      }
    }
    for (const Message* result : results) paired_.insert(result);
    // The session may know the calls without their results.
    for (ResultPart& answer : answers) add(1, Role::user, std::move(answer));
    return ok();
  }

  std::vector<const Message*> tool_messages() const {
    std::vector<const Message*> found;
    for (const Message& message : messages_) {
      if (message.role == Role::tool) found.push_back(&message);
    }
    return found;
  }

  Status on_call(const CallBlock& call, Writer writer, const Message* result,
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
    add(0, Role::assistant, std::move(part));
    return ok();
  }

  Status on_block(const Block& block, Writer writer) {
    if (const auto* text = std::get_if<TextBlock>(&block)) {
      PAWL_TRY(std::string bytes, whole(text->text));
      add_text(0, Role::assistant, std::move(bytes));
    }
    if (writer == Writer::another) return ok();
    if (const auto* thinking = std::get_if<ThinkingBlock>(&block)) {
      PAWL_TRY(std::string bytes, whole(thinking->text));
      add(0, Role::assistant, ThinkingPart{std::move(bytes), thinking->signature});
    }
    if (const auto* raw = std::get_if<RawBlock>(&block)) {
      PAWL_TRY(std::string bytes, whole(raw->json));
      const auto json = parse_json(bytes);
      const bool known = json && json->is_object() && !is_native_result(*json);
      if (known) add(0, Role::assistant, RawPart{std::move(bytes)});
    }
    return ok();
  }

  Status on_orphan(std::size_t at) {
    const Message& message = messages_[at];
    if (paired_.contains(&message)) return ok();
    PAWL_TRY(const std::string text, whole(message.text));
    add_text(at, Role::user, std::string(kOrphan) + text);
    return ok();
  }

  void add_text(std::size_t at, Role role, std::string text) {
    if (!is_blank(text)) add(at, role, TextPart{std::move(text)});
  }

  void add(std::size_t at, Role role, Part part) {
    if (index_ + at >= rules_.first) add_part(turns_, role, std::move(part));
  }

  const std::span<const Message> messages_;
  const std::size_t index_;
  const ComposeRules& rules_;
  WireCallIds& ids_;
  std::set<const Message*> paired_;  // results that have been given to their calls
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

void join_turns(std::vector<Turn>& to, std::vector<Turn> from) {
  for (Turn& turn : from) {
    if (to.empty() || to.back().role != turn.role) {
      to.push_back(std::move(turn));
    } else {
      std::vector<Part>& parts = to.back().parts;
      std::move(turn.parts.begin(), turn.parts.end(), std::back_inserter(parts));
    }
  }
}

Result<std::vector<Turn>> turns_of(const Stretch& stretch, const ComposeRules& rules,
                                   WireCallIds& ids) {
  return Composer(stretch, rules, ids).compose();
}

void begin_with_user(std::vector<Turn>& turns) {
  if (turns.empty() || turns.front().role == Role::user) return;
  turns.insert(turns.begin(), {Role::user, {TextPart{std::string(kBegunBefore)}}});
}

bool is_paused(const std::vector<Turn>& turns, const Message& last) {
  if (last.role != Role::assistant) return false;
  if (turns.empty() || turns.back().role != Role::assistant) return false;
  const auto& parts = turns.back().parts;
  return std::any_of(parts.begin(), parts.end(), is_own_tool);
}

void end_with_user(std::vector<Turn>& turns, const std::string& note) {
  if (!is_blank(note)) add_part(turns, Role::user, TextPart{note});
  if (turns.empty() || turns.back().role == Role::assistant) {
    add_part(turns, Role::user, TextPart{std::string(kGoOn)});
  }
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

bool WireCallIds::use(const std::string& id) {
  if (before_ != nullptr && before_->used_.contains(id)) return false;
  if (!used_.insert(id).second) return false;
  bytes_ += id.size() + kBytesOfAnId;
  return true;
}

std::string WireCallIds::next(const std::string& provider_id, const Message* result) {
  ++calls_;
  if (is_wire_id(provider_id) && use(provider_id)) return provider_id;
  const std::string plain = "call_" + std::to_string(result != nullptr ? number(*result) : calls_);
  std::string id = plain;
  // At most as many rounds as there are calls: each id that is taken belongs to one.
  for (std::uint64_t n = 2; !use(id); ++n) id = plain + "_" + std::to_string(n);
  return id;
}

void WireCallIds::add(WireCallIds&& behind) {
  used_.merge(behind.used_);
  calls_ = behind.calls_;
  bytes_ += behind.bytes_;
}

}  // namespace pawl::provider
