// The filter at the door of the kernel: every text of an event, inline or in a blob, before the
// event is decided upon and written.
#pragma once

#include <vector>

#include "pawl/kernel/events.h"
#include "pawl/port/byte_filter.h"
#include "pawl/store.h"

namespace pawl {

// Whether an event was at this door before: one that waited in an inbox was, when it was posted,
// and the handles it has are real.
enum class Passage : std::uint8_t { first, again };

// `blobs` are those that come with the event; one that is changed gets its new digest, also in the
// event. A thought that is changed loses its signature, which would no longer fit.
void filter_event(const ByteFilter& filter, Passage passage, Event& event,
                  std::vector<StoredBlob>& blobs);

}  // namespace pawl
