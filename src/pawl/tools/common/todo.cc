// The list of what is to be done. It has no state of its own: each call brings the whole list and
// gets it back as text, so that the transcript is all there is to keep, replay and show.
#include "pawl/json.h"
#include "pawl/tools/common/common_tool.h"
#include "pawl/tools/native_tool.h"

namespace pawl {
namespace {

constexpr std::size_t kItemsMax = 100;

std::string_view mark_of(std::string_view status) {
  if (status == "done") return "[x] ";
  if (status == "in_progress") return "[>] ";
  return status == "pending" ? "[ ] " : "";
}

// {"ok":true,"output":"[x] one\n[>] two\n[ ] three\n","items":[…],"files":[]}
Result<std::string> todo_result(std::string_view input) {
  PAWL_TRY(const Json parsed, parse_json(input));
  const Json* const items = parsed.find("items");
  if (items == nullptr || !items->is_array() || items->array().size() > kItemsMax) {
    return Error{ErrorCode::invalid_argument,
                 "items: a list of at most " + std::to_string(kItemsMax) + " is needed"};
  }
  std::string output;
  for (const Json& item : items->array()) {
    const std::string* const text = item.find_string("text");
    const std::string* const status = item.find_string("status");
    const std::string_view mark = status == nullptr ? std::string_view() : mark_of(*status);
    if (text == nullptr || mark.empty()) {
      return Error{ErrorCode::invalid_argument,
                   "items: each needs a text and a status of pending, in_progress or done"};
    }
    output += mark;
    output += *text;
    output += '\n';
  }
  if (output.empty()) output = "[nothing is to be done]\n";
  JsonWriter writer;
  writer.begin_object().field("ok", true).field("output", output);
  writer.field("items", *items).key("files").begin_array().end_array().end_object();
  return writer.take();
}

class TodoTool : public Tool {
 public:
  TodoTool(ToolSpec spec, Loop& loop) : spec_(std::move(spec)), loop_(loop) {}

  const ToolSpec& spec() const override { return spec_; }

  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    const auto text = todo_result(invocation.input);
    ToolOutcome outcome;
    outcome.kind = text ? ToolOutcome::Kind::succeeded : ToolOutcome::Kind::failed;
    outcome.content = cut_output(text ? *text : text.error().message,
                                 static_cast<std::size_t>(spec_.output_bytes_max));
    outcome.content_length = text ? text->size() : outcome.content.size();
    return answer_later(loop_, std::move(done), std::move(outcome));
  }

  std::unique_ptr<Operation> status(const ToolInvocation& /*invocation*/,
                                    std::function<void(ToolStatus)> done) override {
    return answer_later(loop_, std::move(done),
                        ToolStatus{ToolStatus::Kind::unknown, "it has no effect to ask about"});
  }

 private:
  const ToolSpec spec_;
  Loop& loop_;
};

std::shared_ptr<Tool> make_todo(const ToolSpec& spec, Loop& loop) {
  return std::make_shared<TodoTool>(spec, loop);
}

}  // namespace

const CommonTool& todo_tool() {
  static constexpr CommonTool kTool{
      .name = "todo",
      .description = "Keeps the list of what is to be done, and shows it.",
      .schema = R"({"type":"object","properties":{
"items":{"type":"array","maxItems":100,"items":{"type":"object","properties":{
"text":{"type":"string","minLength":1,"maxLength":500},
"status":{"enum":["pending","in_progress","done"]}},
"required":["text","status"],"additionalProperties":false},
"description":"The whole list; it replaces the one before"}},
"required":["items"],"additionalProperties":false})",
      .effect = EffectClass::pure,
      .make = make_todo,
  };
  return kTool;
}

}  // namespace pawl
