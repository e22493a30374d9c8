#include "pawl/adapter/provider/anthropic/anthropic_messages.h"

#include <algorithm>
#include <map>
#include <set>

#include "pawl/adapter/provider/common/media.h"
#include "pawl/base/base64.h"

namespace pawl::provider {
namespace {

constexpr std::string_view kNoAnswer = "(no answer)";
constexpr std::size_t kMarkedUserTurns = 2;  // the last ones: with system and tools, four marks

std::string member_of(const RawPart& raw, std::string_view key) {
  const auto json = parse_json(raw.json);
  const std::string* text = json ? json->find_string(key) : nullptr;
  return text != nullptr ? *text : std::string();
}

// "server_tool_use", "mcp_tool_use"; and "web_search_tool_result" for what answers them.
bool is_own_call(const RawPart& raw) {
  return member_of(raw, "type").ends_with("tool_use");
}
bool is_own_result(const RawPart& raw) {
  return member_of(raw, "type").ends_with("_tool_result");
}

bool is_thinking(const Part& part) {
  if (std::holds_alternative<ThinkingPart>(part)) return true;
  const auto* raw = std::get_if<RawPart>(&part);
  return raw != nullptr && member_of(*raw, "type") == "redacted_thinking";
}

bool is_unsigned(const Part& part) {
  const auto* thinking = std::get_if<ThinkingPart>(&part);
  return thinking != nullptr && thinking->signature.empty();
}

enum class Unanswered : std::uint8_t { kept, dropped };

// Own calls and results that belong together stay; a lone one would have the request refused.
void pair_own_tools(std::vector<Part>& parts, Unanswered unanswered) {
  std::map<std::string, std::size_t> open;  // calls by id, with their places
  std::set<std::string> seen;
  std::set<std::size_t> dropped;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto* raw = std::get_if<RawPart>(&parts[i]);
    if (raw == nullptr) continue;
    if (is_own_call(*raw)) {
      const std::string id = member_of(*raw, "id");
      const bool is_new = !id.empty() && seen.insert(id).second;
      if (is_new) open.emplace(id, i);
      if (!is_new) dropped.insert(i);
    } else if (is_own_result(*raw) && open.erase(member_of(*raw, "tool_use_id")) == 0) {
      dropped.insert(i);
    }
  }
  if (unanswered == Unanswered::dropped) {
    for (const auto& [id, place] : open) dropped.insert(place);
  }
  std::size_t place = 0;
  std::erase_if(parts, [&](const Part&) { return dropped.contains(place++); });
}

void trim_end(std::string& text) {
  text.erase(text.find_last_not_of(" \t\r\n\f\v") + 1);
}

class MessagesWriter {
 public:
  MessagesWriter(JsonWriter& json, const WireOptions& options)
      : json_(json), media_(kAnthropicMedia, options.model) {}

  enum class CacheMark : std::uint8_t { none, set };

  Status write(const Part& part, CacheMark mark) {
    json_.begin_object();
    PAWL_CHECK(std::visit([this](const auto& one) { return fields(one); }, part));
    if (mark == CacheMark::set) {
      json_.key("cache_control").begin_object().field("type", "ephemeral").end_object();
    }
    json_.end_object();
    return ok();
  }

 private:
  Status fields(const TextPart& part) {
    json_.field("type", "text").field("text", part.text);
    return ok();
  }

  Status fields(const AttachmentPart& part) {
    PAWL_TRY(const MediaKind kind, media_.take(part));
    json_.field("type", kind == MediaKind::image ? "image" : "document");
    json_.key("source").begin_object().field("type", "base64");
    json_.field("media_type", plain_media_type(part.media_type));
    json_.field("data", to_base64(part.bytes)).end_object();
    return ok();
  }

  Status fields(const ThinkingPart& part) {
    json_.field("type", "thinking").field("thinking", part.text).field("signature", part.signature);
    return ok();
  }

  Status fields(const RawPart& part) {
    const auto json = parse_json(part.json);
    PAWL_ASSERT(json && json->is_object());  // conversation_of() took nothing else
    // A mark of its own would count against ours.
    for (const JsonMember& member : json->object().members()) {
      if (member.key != "cache_control") json_.field(member.key, member.value);
    }
    return ok();
  }

  Status fields(const CallPart& part) {
    json_.field("type", "tool_use").field("id", part.id).field("name", part.tool);
    json_.key("input").raw(part.input);
    return ok();
  }

  Status fields(const ResultPart& part) {
    json_.field("type", "tool_result").field("tool_use_id", part.id);
    const bool blank = part.text.find_first_not_of(" \t\r\n\f\v") == part.text.npos;
    if (!blank) json_.field("content", part.text);
    if (part.outcome == Message::Outcome::error) json_.field("is_error", true);
    return ok();
  }

  JsonWriter& json_;
  MediaCheck media_;
};

// What the next request will begin with, too: the note is of this one only.
std::size_t marked_part(const Turn& turn, std::string_view note) {
  const std::size_t last = turn.parts.size() - 1;
  const auto* text = std::get_if<TextPart>(&turn.parts[last]);
  return text != nullptr && !note.empty() && text->text == note && last > 0 ? last - 1 : last;
}

}  // namespace

void fit_anthropic(std::vector<Turn>& turns) {
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].role != Role::assistant) continue;
    std::vector<Part>& parts = turns[i].parts;
    const bool is_last = i + 1 == turns.size();
    std::erase_if(parts, is_unsigned);
    pair_own_tools(parts, is_last ? Unanswered::kept : Unanswered::dropped);
    while (!parts.empty() && is_thinking(parts.back())) parts.pop_back();
    if (parts.empty()) parts.emplace_back(TextPart{std::string(kNoAnswer)});
    if (auto* text = std::get_if<TextPart>(&parts.back()); is_last && text != nullptr) {
      trim_end(text->text);  // An answer that goes on must not end in space.
    }
  }
}

bool may_budget_thinking(const std::vector<Turn>& turns) {
  if (turns.size() < 2 || turns.back().role != Role::user) return true;
  if (!std::holds_alternative<ResultPart>(turns.back().parts.front())) return true;
  return is_thinking(turns[turns.size() - 2].parts.front());
}

Status write_anthropic_messages(JsonWriter& json, const std::vector<Turn>& turns,
                                std::string_view note, const WireOptions& options) {
  MessagesWriter writer(json, options);
  std::size_t user_turns_left = static_cast<std::size_t>(std::count_if(
      turns.begin(), turns.end(), [](const Turn& turn) { return turn.role == Role::user; }));
  json.begin_array();
  for (const Turn& turn : turns) {
    const bool is_user = turn.role == Role::user;
    const bool marked = is_user && user_turns_left-- <= kMarkedUserTurns;
    const std::size_t mark = marked ? marked_part(turn, note) : turn.parts.size();
    json.begin_object().field("role", is_user ? "user" : "assistant");
    json.key("content").begin_array();
    for (std::size_t i = 0; i < turn.parts.size(); ++i) {
      using CacheMark = MessagesWriter::CacheMark;
      PAWL_CHECK(writer.write(turn.parts[i], i == mark ? CacheMark::set : CacheMark::none));
    }
    json.end_array().end_object();
  }
  json.end_array();
  return ok();
}

}  // namespace pawl::provider
