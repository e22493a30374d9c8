// Short words for what a processor makes of a text.
#pragma once

#include <string>

#include "pawl/processor.h"

namespace pawl {

// "passed", "blocked: reason", or the new text.
inline std::string verdict_on(const Processor& processor, std::string_view text,
                              TextSource source = TextSource::tool_output) {
  const ProcessorVerdict verdict =
      processor.process({text, source, Destination::model, "the_tool"});
  if (const auto* blocked = std::get_if<TextBlocked>(&verdict))
    return "blocked: " + blocked->reason;
  const auto* modified = std::get_if<TextModified>(&verdict);
  return modified == nullptr ? "passed" : modified->text;
}

}  // namespace pawl
