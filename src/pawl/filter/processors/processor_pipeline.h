// Processors in the order of their priorities.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/kernel/events.h"
#include "pawl/processor.h"
#include "pawl/result.h"

namespace pawl {

// What a processor makes of a text may be this much longer, and no more.
inline constexpr std::size_t kProcessorGrowthBytesMax = 1U << 20U;
inline constexpr std::size_t kBlockReasonBytesMax = 500;

// "Input blocked by pii: …".
std::string to_string(const InputBlocked& blocked);

struct Processing {
  std::string text;                      // as it is now; empty when it was blocked
  std::optional<InputBlocked> blocked;   // by whom, and why
  std::vector<std::string> modified_by;  // in order
};

// Immutable once it is filled: texts may be processed in any number of threads.
class ProcessorPipeline {
 public:
  // limit_exceeded: there are kProcessorsMax.
  Status add(ProcessorEntry entry);
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  // Whether any processor looks at such texts. Where one does, pieces of them are not to be shown
  // before the whole was looked at.
  bool concerns(TextSource source, Destination destination) const;

  Processing process(std::string text, TextSource source, Destination destination,
                     std::string_view tool = {}) const;

 private:
  std::vector<ProcessorEntry> entries_;
};

// For whoever takes in the input of a run or a message, before any model is asked: the text to go
// on with, or invalid_argument with to_string(InputBlocked).
Result<std::string> admit_input(const ProcessorPipeline& pipeline, std::string text,
                                TextSource source);

}  // namespace pawl
