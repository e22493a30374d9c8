#include "pawl/adapter/provider/anthropic/anthropic_messages.h"

#include <algorithm>
#include <map>
#include <set>

#include "pawl/adapter/provider/common/media.h"
#include "pawl/base/base64.h"
#include "pawl/json.h"

namespace pawl::provider {
namespace {

constexpr std::string_view kNoAnswer = "(no answer)";
constexpr std::string_view kCacheMark = R"(,"cache_control":{"type":"ephemeral"})";

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
  MessagesWriter(JsonWriter& json, const WireOptions& options, const MediaTotals& before)
      : json_(json), media_(kAnthropicMedia, options.model, before) {}

  Status write(const Turn& turn) {
    json_.begin_object().field("role", turn.role == Role::user ? "user" : "assistant");
    json_.key("content").begin_array();
    for (const Part& part : turn.parts) {
      json_.begin_object();
      PAWL_CHECK(std::visit([this](const auto& one) { return fields(one); }, part));
      json_.end_object();
    }
    json_.end_array().end_object();
    return ok();
  }
  const MediaTotals& media() const { return media_.totals(); }

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

class AnthropicTurns final : public TurnStyle {
 public:
  explicit AnthropicTurns(const WireOptions& options) : options_(options) {}

  void fit(Turn& turn, Place place) const override {
    if (turn.role != Role::assistant) return;
    const bool is_last = place == Place::last;
    std::vector<Part>& parts = turn.parts;
    std::erase_if(parts, is_unsigned);
    pair_own_tools(parts, is_last ? Unanswered::kept : Unanswered::dropped);
    while (!parts.empty() && is_thinking(parts.back())) parts.pop_back();
    if (parts.empty()) parts.emplace_back(TextPart{std::string(kNoAnswer)});
    if (auto* text = std::get_if<TextPart>(&parts.back()); is_last && text != nullptr) {
      trim_end(text->text);  // An answer that goes on must not end in space.
    }
  }

  Status write(JsonWriter& out, const Turn& turn, TurnState& state) const override {
    MessagesWriter writer(out, options_, state.media);
    PAWL_CHECK(writer.write(turn));
    state.media = writer.media();
    return ok();
  }

 private:
  const WireOptions& options_;
};

// A turn ends with its last part's brace and "]}".
constexpr std::size_t kBehindLastPart = 3;

}  // namespace

std::unique_ptr<const TurnStyle> make_anthropic_turns(const WireOptions& options) {
  return std::make_unique<AnthropicTurns>(options);
}

bool may_budget_thinking(const std::vector<Turn>& turns) {
  if (turns.size() < 2 || turns.back().role != Role::user) return true;
  if (!std::holds_alternative<ResultPart>(turns.back().parts.front())) return true;
  return is_thinking(turns[turns.size() - 2].parts.front());
}

std::vector<Insertion> cache_marks(const std::vector<TurnEnd>& user_turns,
                                   const std::string& note) {
  std::vector<Insertion> marks;
  for (const TurnEnd& turn : user_turns) {
    std::size_t at = turn.end - kBehindLastPart;
    if (turn.parts > 1 && !note.empty() && turn.last_text == note) {
      JsonWriter json;
      json.begin_object().field("type", "text").field("text", note).end_object();
      at -= json.take().size() + 1;  // and the comma before it
    }
    marks.push_back({at, std::string(kCacheMark)});
  }
  return marks;
}

}  // namespace pawl::provider
