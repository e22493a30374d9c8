#include "pawl/runtime/processors/event_processing.h"

#include <doctest/doctest.h>

#include "pawl/runtime/processors/shipped_processors.h"

namespace pawl {
namespace {

struct Stage {
  ProcessorPipeline output;
  std::vector<StoredBlob> blobs;

  void add(std::shared_ptr<const Processor> processor) {
    ProcessorEntry entry;
    entry.processor = std::move(processor);
    CHECK(output.add(std::move(entry)));
  }
  template <class T>
  T processed(T event, Destination destination) {
    Event any = std::move(event);
    process_event(output, destination, "mailer", any, blobs);
    return std::get<T>(std::move(any));
  }
};

ToolFinished a_result(std::string text) {
  ToolFinished result;
  result.content_length = text.size() + 3;
  result.content = Content(std::move(text));
  return result;
}

}  // namespace

TEST_CASE("the same event is masked for the stream and whole for the audit trail") {
  Stage stage;
  stage.add(make_pii(OnFinding::mask, {}));
  const ToolFinished result = a_result("from ann@mail.example");

  const ToolFinished masked = stage.processed(result, Destination::stream);
  CHECK(masked.content == Content("from [email]"));
  CHECK(masked.content_length == std::string_view("from [email]").size() + 3);
  CHECK(stage.processed(result, Destination::audit) == result);
}

TEST_CASE("blocks of a reply are changed, and inputs of calls only where they are shown") {
  Stage stage;
  stage.add(make_pii(OnFinding::mask, {}));
  ModelReplied reply;
  reply.blocks = {TextBlock{Content("a@b.example")}, ThinkingBlock{Content("a@b.example"), "sig"},
                  ThinkingBlock{Content("well"), "sig"},
                  CallBlock{"mail", Content(R"({"to":"a@b.example"})"), "", ""}};

  CHECK(stage.processed(reply, Destination::model).blocks ==
        std::vector<Block>{TextBlock{Content("[email]")}, ThinkingBlock{Content("[email]"), ""},
                           ThinkingBlock{Content("well"), "sig"}, reply.blocks[3]});
  CHECK(stage.processed(reply, Destination::log).blocks[3] ==
        Block(CallBlock{"mail", Content(R"({"to":"[email]"})"), "", ""}));
}

TEST_CASE("a blob that comes with the event is processed, and the tool has its name") {
  Stage stage;
  stage.add(make_injection_frame(FrameWhen::always));
  stage.blobs = {{sha256("text"), "text"}};
  ToolFinished result;
  result.content = Content(BlobRef{sha256("text"), 4});
  result.content_length = 4;

  const ToolFinished framed = stage.processed(result, Destination::model);

  CHECK(stage.blobs[0].bytes.starts_with("[untrusted content from tool mailer, "));
  CHECK(framed.content.blob()->digest == sha256(stage.blobs[0].bytes));
  CHECK(stage.blobs[0].digest == sha256(stage.blobs[0].bytes));
}

TEST_CASE("a text that is blocked says so in its place, and other events pass") {
  Stage stage;
  stage.add(make_size_bound(3, OnTooLong::block));
  CHECK(stage.processed(a_result("long"), Destination::model).content ==
        Content("[blocked by size: it has 4 bytes, and 3 are allowed]"));
  const MessageReceived message{kRootInstance, Content("longer"), "ann"};
  CHECK(stage.processed(message, Destination::model) == message);
}

}  // namespace pawl
