// Where texts of a run pass its processors: messages on their way in, results on their way to the
// model, events on their way to whoever watches. The journal keeps what there was.
#include "pawl/runtime/contents.h"
#include "pawl/runtime/driver.h"

namespace pawl {

Status Driver::admit(Content& message) {
  const auto& processors = setup_.agent.charter.processors;
  if (!processors || processors->input.empty()) return ok();
  PAWL_TRY(std::string text, resolve(*services_.store.reader, id_, message));
  PAWL_TRY(text, admit_input(processors->input, std::move(text), TextSource::message));
  message = Content(std::move(text));
  return ok();
}

Status Driver::prepare(MessageReceived& event) {
  return admit(event.text);
}

Status Driver::prepare(RunReopened& event) {
  return event.message.empty() ? ok() : admit(event.message);
}

std::string Driver::for_the_model(std::string text, const std::string& tool) const {
  const auto& processors = setup_.agent.charter.processors;
  if (!processors || processors->output.empty()) return text;
  Processing done = processors->output.process(std::move(text), TextSource::tool_output,
                                               Destination::model, tool);
  if (!done.blocked) return std::move(done.text);
  return "[the result is withheld by " + done.blocked->processor + ": " + done.blocked->reason +
         "]";
}

namespace {

TextSource source_of(const Event& event) {
  if (std::holds_alternative<RunStarted>(event)) return TextSource::run_input;
  if (std::holds_alternative<MessageReceived>(event)) return TextSource::message;
  if (std::holds_alternative<RunReopened>(event)) return TextSource::message;
  if (std::holds_alternative<ModelReplied>(event)) return TextSource::model_output;
  return TextSource::tool_output;
}

}  // namespace

std::shared_ptr<const RecordView> Driver::for_the_stream(
    std::shared_ptr<const RecordView> view) const {
  const auto& processors = setup_.agent.charter.processors;
  if (!processors || processors->output.empty()) return view;
  auto masked = std::make_shared<RecordView>(*view);
  const TextSource source = source_of(masked->record.event);
  std::visit(
      [&](auto& fact) {
        visit_contents(fact, [&](Content& content) {
          auto text = resolve(*services_.store.reader, id_, content);
          if (!text) return;  // Then nobody who watches can read it either.
          Processing done =
              processors->output.process(*std::move(text), source, Destination::stream);
          if (done.blocked) {
            content = Content("[withheld by " + done.blocked->processor + "]");
          } else if (!done.modified_by.empty()) {
            content = Content(std::move(done.text));
          }
        });
      },
      masked->record.event);
  return masked;
}

}  // namespace pawl
