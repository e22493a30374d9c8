// The ports of one store, for code that uses several of them.
#pragma once

#include "pawl/port/journal.h"
#include "pawl/port/upkeep.h"

namespace pawl {

// Usually all of them are one object.
struct Store {
  Journal* journal = nullptr;
  JournalReader* reader = nullptr;
  Catalog* catalog = nullptr;
  Inbox* inbox = nullptr;
  Upkeep* upkeep = nullptr;  // these three only where the store offers them
  Copier* copier = nullptr;
  Retention* retention = nullptr;
};

}  // namespace pawl
