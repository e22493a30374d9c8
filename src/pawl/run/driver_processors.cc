#include "pawl/run/driver_processors.h"

#include "pawl/journal/contents.h"
#include "pawl/journal/ingress.h"

namespace pawl {
namespace {

TextSource source_of(const Event& event) {
  if (std::holds_alternative<RunStarted>(event)) return TextSource::run_input;
  if (std::holds_alternative<MessageReceived>(event)) return TextSource::message;
  if (std::holds_alternative<RunReopened>(event)) return TextSource::message;
  if (std::holds_alternative<ModelReplied>(event)) return TextSource::model_output;
  return TextSource::tool_output;
}

}  // namespace

Status process_message(const DrivenRun& run, Content& message) {
  const auto& processors = run.setup().agent.charter.processors;
  if (message.empty() || !processors || processors->input.empty()) return ok();
  PAWL_TRY(std::string text, resolve(run.reader(), run.id(), message));
  PAWL_TRY(text, admit_input(processors->input, std::move(text), TextSource::message));
  message = Content(std::move(text));
  return ok();
}

Status process_message(const DrivenRun& run, Content& message, std::vector<StoredBlob>& blobs) {
  for (const StoredBlob& blob : blobs) {
    const BlobRef* const named = message.blob();
    if (named != nullptr && named->digest == blob.digest) message = Content(blob.bytes);
  }
  PAWL_CHECK(process_message(run, message));
  if (message.blob() != nullptr) return ok();
  // What was processed away is not stored.
  Ingress kept;
  message = kept.keep(*message.bytes());
  blobs = kept.take_blobs();
  return ok();
}

std::string process_for_model(const DrivenRun& run, std::string text, const std::string& tool) {
  const auto& processors = run.setup().agent.charter.processors;
  if (!processors || processors->output.empty()) return text;
  Processing done = processors->output.process(std::move(text), TextSource::tool_output,
                                               Destination::model, tool);
  if (!done.blocked) return std::move(done.text);
  return "[the result is withheld by " + done.blocked->processor + ": " + done.blocked->reason +
         "]";
}

std::shared_ptr<const RecordView> process_for_stream(const DrivenRun& run,
                                                     std::shared_ptr<const RecordView> view) {
  const auto& processors = run.setup().agent.charter.processors;
  if (!processors || processors->output.empty()) return view;
  auto masked = std::make_shared<RecordView>(*view);
  const TextSource source = source_of(masked->record.event);
  const auto mask = [&](Content& content) {
    auto text = resolve(run.reader(), run.id(), content);
    if (!text) return;  // Subscribers cannot read it either.
    Processing done = processors->output.process(*std::move(text), source, Destination::stream);
    if (done.blocked) {
      content = Content("[withheld by " + done.blocked->processor + "]");
    } else if (!done.modified_by.empty()) {
      content = Content(std::move(done.text));
    }
  };
  std::visit([&](auto& fact) { visit_contents(fact, mask); }, masked->record.event);
  return masked;
}

}  // namespace pawl
