// Going on with a store that is behind its mark, as somebody has decided.
//
// Nobody can say which runs have lost records. So every run that is not over is taken from whoever
// drove it (its epoch rises) and paused: calls that its journal knows to be open are put in doubt
// by the usual rule when it is taken up, and calls that it does not know of cannot be made again
// before a person has looked and resumed it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/store.h"

namespace pawl::sqlite {

struct Acceptance {
  std::string why;  // what was wrong; empty: nothing, and nothing was changed
  std::uint64_t records = 0;
  std::uint64_t messages = 0;
  std::vector<RunId> paused;
};

// unavailable: a process has the store open.
Result<Acceptance> accept_store(const std::string& directory, std::int64_t now_ms);

// In an open transaction.
Result<std::vector<RunId>> pause_live_runs(Connection& connection, std::int64_t now_ms);

}  // namespace pawl::sqlite
