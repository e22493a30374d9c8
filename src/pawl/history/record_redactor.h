// Redacts every text of a record: of its event, of what was decided, of the blobs it names.
#pragma once

#include <vector>

#include "pawl/filter/redactor.h"
#include "pawl/kernel/record.h"
#include "pawl/store.h"
#include "pawl/words.h"

namespace pawl {

// True when something was replaced. Blobs that became others are added to `made`.
Result<bool> redact_record(Redactor& redactor, JournalReader& reader, const RunId& run,
                           Record& record, std::vector<StoredBlob>& made);

}  // namespace pawl
