// Applies the processors of a charter to the texts of a run. Messages and tool results are recorded
// as processed, because the model reads what is recorded; subscribers get changed copies of events.
#pragma once

#include <memory>
#include <string>

#include "pawl/run/driven_run.h"

namespace pawl {

// invalid_argument: a processor blocks the message.
Status process_message(const DrivenRun& run, Content& message);
// Of a message that comes with its blob, which is not in the store yet.
Status process_message(const DrivenRun& run, Content& message, std::vector<StoredBlob>& blobs);
std::string process_for_model(const DrivenRun& run, std::string text, const std::string& tool);
std::shared_ptr<const RecordView> process_for_stream(const DrivenRun& run,
                                                     std::shared_ptr<const RecordView> view);

}  // namespace pawl
