#include "pawl/filter/processors/processor_pipeline.h"

#include <algorithm>

#include "pawl/base/thrown.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, kTextSources> kSourceNames = {"run_input", "message",
                                                                     "tool_output", "model_output"};
constexpr std::array<std::string_view, kDestinations> kDestinationNames = {"model", "stream", "log",
                                                                           "audit"};

bool applies(const ProcessorEntry& entry, TextSource source, Destination destination) {
  return entry.sources.test(static_cast<std::size_t>(source)) &&
         entry.destinations.test(static_cast<std::size_t>(destination));
}

// A processor that fails has not looked: nothing passes it.
ProcessorVerdict verdict_of(const Processor& processor, const ProcessedText& text) {
  try {
    ProcessorVerdict verdict = processor.process(text);
    const auto* modified = std::get_if<TextModified>(&verdict);
    if (modified == nullptr ||
        modified->text.size() <= text.text.size() + kProcessorGrowthBytesMax) {
      return verdict;
    }
    return TextBlocked{"it made the text too long"};
  } catch (...) {  // A host's own may throw anything.
    return TextBlocked{"it failed: " + what_was_thrown()};
  }
}

}  // namespace

std::string_view name(TextSource source) {
  return kSourceNames[static_cast<std::size_t>(source)];
}

std::string_view name(Destination destination) {
  return kDestinationNames[static_cast<std::size_t>(destination)];
}

std::string to_string(const InputBlocked& blocked) {
  return "Input blocked by " + blocked.processor + ": " + blocked.reason;
}

Status ProcessorPipeline::add(ProcessorEntry entry) {
  PAWL_ASSERT(entry.processor != nullptr);
  if (entries_.size() == kProcessorsMax) {
    return Error{ErrorCode::limit_exceeded,
                 "there are " + std::to_string(kProcessorsMax) + " processors already"};
  }
  const auto is_later = [&entry](const ProcessorEntry& one) {
    return one.priority > entry.priority;
  };
  entries_.insert(std::find_if(entries_.begin(), entries_.end(), is_later), std::move(entry));
  return ok();
}

bool ProcessorPipeline::concerns(TextSource source, Destination destination) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const ProcessorEntry& entry) {
    return applies(entry, source, destination);
  });
}

Processing ProcessorPipeline::process(std::string text, TextSource source, Destination destination,
                                      std::string_view tool) const {
  Processing result;
  result.text = std::move(text);
  for (const ProcessorEntry& entry : entries_) {
    const ProcessedText at_hand{result.text, source, destination, tool};
    if (!applies(entry, source, destination)) continue;
    ProcessorVerdict verdict = verdict_of(*entry.processor, at_hand);
    if (auto* blocked = std::get_if<TextBlocked>(&verdict)) {
      result.blocked = InputBlocked{std::string(entry.processor->name()),
                                    blocked->reason.substr(0, kBlockReasonBytesMax)};
      result.text.clear();
      return result;
    }
    if (auto* modified = std::get_if<TextModified>(&verdict)) {
      result.text = std::move(modified->text);
      result.modified_by.emplace_back(entry.processor->name());
    }
  }
  return result;
}

Result<std::string> admit_input(const ProcessorPipeline& pipeline, std::string text,
                                TextSource source) {
  Processing result = pipeline.process(std::move(text), source, Destination::model);
  if (!result.blocked) return std::move(result.text);
  return Error{ErrorCode::invalid_argument, to_string(*result.blocked)};
}

}  // namespace pawl
