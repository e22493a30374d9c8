#include "pawl/runtime/processors/event_processing.h"

#include "pawl/runtime/secret_filter/carried_texts.h"

namespace pawl {
namespace {

class EventProcessing {
 public:
  EventProcessing(const ProcessorPipeline& output, Destination destination, std::string_view tool,
                  std::vector<StoredBlob>& blobs)
      : output_(output), destination_(destination), tool_(tool), contents_(blobs) {}

  void process(ToolFinished& event) {
    const std::uint64_t kept = std::min(event.content_length, event.content.length());
    const std::uint64_t cut = event.content_length - kept;
    change(event.content, TextSource::tool_output);
    event.content_length = event.content.length() + cut;
  }
  void process(ResultCameLate& event) { change(event.content, TextSource::tool_output); }
  void process(ToolStatusLearned& event) { change(event.content, TextSource::tool_output); }
  void process(ModelReplied& event) {
    for (Block& block : event.blocks) {
      std::visit([this](auto& one) { this->process_block(one); }, block);
    }
  }
  // Others hold nothing that tools or models said.
  template <class Other>
  void process(Other&) {}

 private:
  void process_block(TextBlock& block) { change(block.text, TextSource::model_output); }
  void process_block(ThinkingBlock& block) {
    const Digest before = block.text.digest();
    change(block.text, TextSource::model_output);
    if (block.text.digest() != before) block.signature.clear();
  }
  void process_block(CallBlock& block) {
    if (destination_ != Destination::model) change(block.input, TextSource::model_output);
  }
  void process_block(RawBlock&) {}  // A provider's own, which goes back as it came.

  void change(Content& content, TextSource source) {
    contents_.change(content, [this, source](std::string text) {
      Processing result = output_.process(std::move(text), source, destination_, tool_);
      if (!result.blocked) return std::move(result.text);
      return "[blocked by " + result.blocked->processor + ": " + result.blocked->reason + "]";
    });
  }

  const ProcessorPipeline& output_;
  Destination destination_;
  std::string_view tool_;
  CarriedTexts contents_;
};

}  // namespace

void process_event(const ProcessorPipeline& output, Destination destination, std::string_view tool,
                   Event& event, std::vector<StoredBlob>& blobs) {
  if (output.empty()) return;
  EventProcessing processing(output, destination, tool, blobs);
  std::visit([&processing](auto& one) { processing.process(one); }, event);
}

}  // namespace pawl
