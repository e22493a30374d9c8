// A transcript that is read from the journal when it is loaded.
#pragma once

#include <memory>
#include <optional>

#include "pawl/port/executor.h"
#include "pawl/port/journal.h"

namespace pawl {

class DrivenRun;

// The first `length` entries of the instance's transcript, which only grows behind them. What the
// store refuses is kept in `unreadable` too: the executor can only fail for it.
std::shared_ptr<const Transcript> make_journal_transcript(
    DrivenRun& run, InstanceId instance, std::size_t length,
    std::shared_ptr<std::optional<Error>> unreadable);

}  // namespace pawl
