#include "pawl/adapter/provider/responses_input.h"

#include <array>
#include <optional>
#include <set>
#include <utility>

#include "pawl/adapter/provider/media.h"
#include "pawl/adapter/provider/openai_parts.h"
#include "pawl/adapter/provider/openai_wire.h"

namespace pawl::provider {
namespace {

// Calls that the provider expects the caller to answer. Pawl offers none of them; if one comes all
// the same, it goes back only with an answer.
constexpr std::array<std::string_view, 5> kCallersCalls{
    "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"};

class InputWriter {
 public:
  InputWriter(JsonWriter& out, const ExecutorModelDescriptor& model)
      : out_(out), media_(kOpenAiMedia, model) {}

  Status write(const std::vector<Turn>& turns) {
    for (const Turn& turn : turns) {
      for (const Part& part : turn.parts) note_answers(part);
    }
    out_.begin_array();
    for (const Turn& turn : turns) {
      if (turn.role == Role::assistant) {
        assistant(turn);
      } else {
        PAWL_CHECK(user(turn));
      }
    }
    out_.end_array();
    return ok();
  }

 private:
  // Which calls of the raw blocks have their outputs among them, and the other way round.
  void note_answers(const Part& part) {
    const auto* const raw = std::get_if<RawPart>(&part);
    if (raw == nullptr) return;
    const auto item = parse_json(raw->json);
    if (!item) return;
    const std::string key(text_of(*item, "call_id"));
    (text_of(*item, "type").ends_with("_output") ? answers_ : asked_).insert(key);
  }

  Status user(const Turn& turn) {
    bool open = false;
    for (const Part& part : turn.parts) {
      if (const auto* result = std::get_if<ResultPart>(&part)) {
        function_output(*result);
        continue;
      }
      if (!std::exchange(open, true)) {
        out_.begin_object().field("type", "message").field("role", "user");
        out_.key("content").begin_array();
      }
      if (const auto* text = std::get_if<TextPart>(&part)) {
        out_.begin_object().field("type", "input_text").field("text", text->text).end_object();
      }
      if (const auto* attachment = std::get_if<AttachmentPart>(&part)) {
        PAWL_CHECK(attached(*attachment));
      }
    }
    if (open) out_.end_array().end_object();
    return ok();
  }

  Status attached(const AttachmentPart& attachment) {
    PAWL_TRY(const MediaKind kind, media_.take(attachment));
    out_.begin_object();
    if (kind == MediaKind::image) {
      out_.field("type", "input_image").field("image_url", data_url(attachment));
    } else {
      out_.field("type", "input_file").field("filename", file_name(attachment));
      out_.field("file_data", data_url(attachment));
    }
    out_.end_object();
    return ok();
  }

  void function_output(const ResultPart& result) {
    out_.begin_object().field("type", "function_call_output").field("call_id", result.id);
    out_.field("output", result_text(result)).end_object();
  }

  void assistant(const Turn& turn) {
    for (std::size_t i = 0; i < turn.parts.size(); ++i) {
      const Part& part = turn.parts[i];
      if (const auto* text = std::get_if<TextPart>(&part)) {
        out_.begin_object().field("type", "message").field("role", "assistant");
        out_.field("content", text->text).end_object();
      } else if (const auto* thinking = std::get_if<ThinkingPart>(&part)) {
        if (leads_to_something(turn, i)) reasoning(*thinking);
      } else if (const auto* call = std::get_if<CallPart>(&part)) {
        out_.begin_object().field("type", "function_call").field("call_id", call->id);
        out_.field("name", call->tool).field("arguments", call->input).end_object();
      } else if (const auto* one = std::get_if<RawPart>(&part)) {
        raw(*one);
      }
    }
  }

  // The provider refuses a thought without what it led to.
  static bool leads_to_something(const Turn& turn, std::size_t index) {
    while (++index < turn.parts.size()) {
      const Part& next = turn.parts[index];
      if (std::holds_alternative<TextPart>(next) || std::holds_alternative<CallPart>(next)) {
        return true;
      }
    }
    return false;
  }

  void reasoning(const ThinkingPart& thinking) {
    const auto item = parse_json(thinking.signature);
    if (item && text_of(*item, "type") == "reasoning") out_.value(*item);
  }

  void raw(const RawPart& part) {
    const auto item = parse_json(part.json);
    if (!item) return;
    const std::string_view type = text_of(*item, "type");
    const std::string id(text_of(*item, "call_id"));
    if (type.empty() || (type.ends_with("_output") && !asked_.contains(id))) return;
    const bool callers = std::ranges::find(kCallersCalls, type) != kCallersCalls.end();
    const bool answered = !callers || answers_.contains(id);
    const bool custom = type == "custom_tool_call";
    if (!answered && !custom) return;
    out_.value(*item);
    if (answered) return;
    out_.begin_object().field("type", "custom_tool_call_output").field("call_id", id);
    out_.field("output", "There is no such tool.").end_object();
  }

  JsonWriter& out_;
  MediaCheck media_;
  std::set<std::string, std::less<>> asked_;
  std::set<std::string, std::less<>> answers_;
};

}  // namespace

Status write_responses_input(JsonWriter& out, const std::vector<Turn>& turns,
                             const ExecutorModelDescriptor& model) {
  return InputWriter(out, model).write(turns);
}

}  // namespace pawl::provider
