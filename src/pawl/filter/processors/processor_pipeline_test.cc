#include "pawl/filter/processors/processor_pipeline.h"

#include <doctest/doctest.h>

#include <functional>
#include <stdexcept>

namespace pawl {
namespace {

class OwnProcessor final : public Processor {
 public:
  using Work = std::function<ProcessorVerdict(const ProcessedText&)>;
  OwnProcessor(std::string name, Work work) : name_(std::move(name)), work_(std::move(work)) {}
  std::string_view name() const override { return name_; }
  ProcessorVerdict process(const ProcessedText& text) const override { return work_(text); }

 private:
  std::string name_;
  Work work_;
};

ProcessorEntry entry(std::string name, int priority, OwnProcessor::Work work) {
  ProcessorEntry made;
  made.processor = std::make_shared<OwnProcessor>(std::move(name), std::move(work));
  made.priority = priority;
  return made;
}

ProcessorEntry appending(const std::string& word, int priority) {
  return entry(word, priority, [word](const ProcessedText& at_hand) {
    return TextModified{std::string(at_hand.text) + word};
  });
}

}  // namespace

TEST_CASE("processors work in the order of their priorities, equal ones as they were added") {
  ProcessorPipeline pipeline;
  CHECK(pipeline.add(appending("d", 200)));
  CHECK(pipeline.add(appending("b", 100)));
  CHECK(pipeline.add(appending("c", 100)));
  CHECK(pipeline.add(appending("a", -5)));
  CHECK(pipeline.add(entry("nothing", 0, [](const ProcessedText&) { return TextPassed{}; })));

  const Processing result = pipeline.process(">", TextSource::message, Destination::model);

  CHECK(result.text == ">abcd");
  CHECK(result.modified_by == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK_FALSE(result.blocked);
}

TEST_CASE("a block ends the work, and says by whom and why") {
  ProcessorPipeline pipeline;
  int later = 0;
  CHECK(pipeline.add(appending("a", 1)));
  CHECK(pipeline.add(
      entry("guard", 2, [](const ProcessedText&) { return TextBlocked{"it is Tuesday"}; })));
  CHECK(pipeline.add(entry("later", 3, [&later](const ProcessedText&) {
    ++later;
    return TextPassed{};
  })));

  const Processing result = pipeline.process("x", TextSource::run_input, Destination::model);

  CHECK(result.blocked == InputBlocked{"guard", "it is Tuesday"});
  CHECK(result.text.empty());
  CHECK(later == 0);
  CHECK(admit_input(pipeline, "x", TextSource::run_input).error() ==
        Error{ErrorCode::invalid_argument, "Input blocked by guard: it is Tuesday"});
}

TEST_CASE("a processor that throws, or that swells a text, blocks") {
  ProcessorPipeline throwing;
  CHECK(throwing.add(entry("bad", 1, [](const ProcessedText&) -> ProcessorVerdict {
    throw std::runtime_error("no network");
  })));
  CHECK(throwing.process("x", TextSource::message, Destination::model).blocked ==
        InputBlocked{"bad", "it failed: no network"});
  ProcessorPipeline odd;
  CHECK(odd.add(entry("odd", 1, [](const ProcessedText&) -> ProcessorVerdict { throw 3; })));
  CHECK(odd.process("x", TextSource::message, Destination::model).blocked);
  ProcessorPipeline swelling;
  CHECK(swelling.add(entry("big", 1, [](const ProcessedText&) {
    return TextModified{std::string(kProcessorGrowthBytesMax + 2, 'x')};
  })));
  CHECK(swelling.process("x", TextSource::message, Destination::model).blocked ==
        InputBlocked{"big", "it made the text too long"});
}

TEST_CASE("the same text is masked for one destination and whole for the audit trail") {
  ProcessorPipeline pipeline;
  ProcessorEntry only_stream = appending(" masked", 1);
  only_stream.destinations.reset().set(static_cast<std::size_t>(Destination::stream));
  only_stream.sources.reset().set(static_cast<std::size_t>(TextSource::tool_output));
  CHECK(pipeline.add(only_stream));
  CHECK(pipeline.add(appending("!", 2)));

  const auto shown = [&pipeline](TextSource source, Destination destination) {
    return pipeline.process("t", source, destination, "tool").text;
  };
  CHECK(shown(TextSource::tool_output, Destination::stream) == "t masked!");
  CHECK(shown(TextSource::tool_output, Destination::log) == "t!");
  CHECK(shown(TextSource::tool_output, Destination::audit) == "t");
  CHECK(shown(TextSource::model_output, Destination::stream) == "t!");
  CHECK(pipeline.concerns(TextSource::tool_output, Destination::log));
  CHECK_FALSE(pipeline.concerns(TextSource::tool_output, Destination::audit));
}

TEST_CASE("the number of processors is bounded") {
  ProcessorPipeline pipeline;
  CHECK(pipeline.empty());
  CHECK(*admit_input(pipeline, "x", TextSource::message) == "x");
  for (std::size_t i = 0; i < kProcessorsMax; ++i) CHECK(pipeline.add(appending("", 1)));
  CHECK(pipeline.add(appending("", 1)).error().code == ErrorCode::limit_exceeded);
  CHECK(pipeline.size() == kProcessorsMax);
}

TEST_CASE("sources and destinations have names") {
  CHECK(name(TextSource::tool_output) == "tool_output");
  CHECK(name(Destination::audit) == "audit");
}

}  // namespace pawl
