#include "pawl/app/toolbox_egress.h"

#include <utility>

#include "pawl/base/json.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

std::string_view word_of(EgressEvent::Verdict verdict) {
  switch (verdict) {
    case EgressEvent::Verdict::allowed:
      return "allowed";
    case EgressEvent::Verdict::refused:
      return "refused";
    case EgressEvent::Verdict::unresolved:
      break;
  }
  return "unresolved";
}

Json json_of(const EgressEvent& event) {
  JsonObject object;
  object.set("target", to_valid_utf8(event.target.substr(0, kEgressDetailBytesMax)));
  object.set("verdict", std::string(word_of(event.verdict)));
  object.set("detail", to_valid_utf8(event.detail.substr(0, kEgressDetailBytesMax)));
  return object;
}

class NotingTool final : public Tool {
 public:
  NotingTool(std::shared_ptr<Tool> tool, std::shared_ptr<EgressNotes> notes)
      : tool_(std::move(tool)), notes_(std::move(notes)) {}
  const ToolSpec& spec() const override { return tool_->spec(); }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    return tool_->invoke(invocation, [notes = notes_, done = std::move(done),
                                      bytes_max = spec().output_bytes_max](ToolOutcome outcome) {
      const std::size_t before = outcome.content.size();
      outcome.content = notes->joined_to(std::move(outcome.content), bytes_max);
      outcome.content_length += outcome.content.size() - before;
      done(std::move(outcome));
    });
  }
  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    return tool_->status(invocation, std::move(done));
  }

 private:
  const std::shared_ptr<Tool> tool_;
  const std::shared_ptr<EgressNotes> notes_;
};

}  // namespace

EgressSink EgressNotes::sink() {
  return [this](const EgressEvent& event) {
    if (notes_.size() == kEgressNotesMax) {
      ++left_out_;
    } else {
      notes_.push_back(event);
    }
  };
}

std::string EgressNotes::joined_to(std::string result, std::size_t bytes_max) {
  const auto notes = std::exchange(notes_, {});
  const std::size_t left_out = std::exchange(left_out_, 0);
  if (notes.empty()) return result;
  JsonArray list;
  for (const EgressEvent& note : notes) list.push_back(json_of(note));
  auto json = parse_json(result);
  JsonObject object;
  if (json && json->is_object()) {
    object = json->object();
  } else {
    object.set("output", result);
  }
  object.set("egress", std::move(list));
  if (left_out > 0) object.set("egress_left_out", static_cast<std::int64_t>(left_out));
  std::string joined = write_json(object);
  return joined.size() <= bytes_max ? joined : result;
}

std::shared_ptr<Tool> with_egress_notes(std::shared_ptr<Tool> tool,
                                        std::shared_ptr<EgressNotes> notes) {
  return std::make_shared<NotingTool>(std::move(tool), std::move(notes));
}

}  // namespace pawl
