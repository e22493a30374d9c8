// Output processors on whole events, for one destination at a time.
#pragma once

#include <string_view>
#include <vector>

#include "pawl/kernel/events.h"
#include "pawl/port/journal.h"
#include "pawl/runtime/processors/processor_pipeline.h"

namespace pawl {

// What tools and models said in the event, as the destination may have it. `tool` is whose result
// it is, if it is one; `blobs` are those that come with the event (for an event that was stored:
// none, and contents by reference stay so). A text that is blocked becomes a line that says so.
//
// The inputs of calls are what will be executed: they are changed for screens and logs, never for
// the model. A thought that is changed loses its signature.
void process_event(const ProcessorPipeline& output, Destination destination, std::string_view tool,
                   Event& event, std::vector<StoredBlob>& blobs);

}  // namespace pawl
