#include "pawl/adapter/provider/responses_input.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
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

enum class RawFate : std::uint8_t { keep, drop, answer };  // answer: in the place of nobody

std::optional<Json> raw_item(const Part& part) {
  const auto* const raw = std::get_if<RawPart>(&part);
  if (raw == nullptr) return std::nullopt;
  auto item = parse_json(raw->json);
  return item ? std::optional(*std::move(item)) : std::nullopt;
}

bool is_callers(std::string_view type) {
  return std::ranges::find(kCallersCalls, type) != kCallersCalls.end();
}

// What becomes of the raw items of a turn, by their places in it: a call goes with the output that
// follows it, and neither without the other.
std::map<std::size_t, RawFate> raw_fates(const Turn& turn) {
  std::map<std::size_t, RawFate> fates;
  std::map<std::string, std::size_t> open;  // "shell_call_output s1": the place of the call
  for (std::size_t i = 0; i < turn.parts.size(); ++i) {
    const auto item = raw_item(turn.parts[i]);
    if (!item) continue;
    const std::string type(text_of(*item, "type"));
    const std::string id(text_of(*item, "call_id"));
    fates[i] = type.empty() ? RawFate::drop : RawFate::keep;
    if (is_callers(type)) {
      fates[i] = type == "custom_tool_call" ? RawFate::answer : RawFate::drop;
      open[type + "_output " + id] = i;
    } else if (type.ends_with("_output")) {
      const auto call = open.find(type + " " + id);
      fates[i] = call != open.end() ? RawFate::keep : RawFate::drop;
      if (call == open.end()) continue;
      fates[call->second] = RawFate::keep;
      open.erase(call);
    }
  }
  return fates;
}

class InputWriter {
 public:
  InputWriter(JsonWriter& out, const ExecutorModelDescriptor& model)
      : out_(out), media_(kOpenAiMedia, model) {}

  Status write(const std::vector<Turn>& turns) {
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
    const auto fates = raw_fates(turn);
    for (std::size_t i = 0; i < turn.parts.size(); ++i) {
      const Part& part = turn.parts[i];
      if (const auto* text = std::get_if<TextPart>(&part)) {
        out_.begin_object().field("type", "message").field("role", "assistant");
        out_.field("content", text->text).end_object();
      } else if (const auto* thinking = std::get_if<ThinkingPart>(&part)) {
        if (leads_to_something(turn, i, fates)) reasoning(*thinking);
      } else if (const auto* call = std::get_if<CallPart>(&part)) {
        out_.begin_object().field("type", "function_call").field("call_id", call->id);
        out_.field("name", call->tool).field("arguments", call->input).end_object();
      } else if (const auto fate = fates.find(i); fate != fates.end()) {
        raw(*raw_item(part), fate->second);
      }
    }
  }

  // The provider refuses a thought without what it led to.
  static bool leads_to_something(const Turn& turn, std::size_t index,
                                 const std::map<std::size_t, RawFate>& fates) {
    while (++index < turn.parts.size()) {
      const Part& next = turn.parts[index];
      const auto fate = fates.find(index);
      if (fate != fates.end() && fate->second != RawFate::drop) return true;
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

  void raw(const Json& item, RawFate fate) {
    if (fate == RawFate::drop) return;
    out_.value(item);
    if (fate == RawFate::keep) return;
    out_.begin_object().field("type", "custom_tool_call_output");
    out_.field("call_id", text_of(item, "call_id")).field("output", "There is no such tool.");
    out_.end_object();
  }

  JsonWriter& out_;
  MediaCheck media_;
};

}  // namespace

Status write_responses_input(JsonWriter& out, const std::vector<Turn>& turns,
                             const ExecutorModelDescriptor& model) {
  return InputWriter(out, model).write(turns);
}

}  // namespace pawl::provider
