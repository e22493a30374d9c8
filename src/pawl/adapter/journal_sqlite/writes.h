// What is written to the tables, as functions on an open transaction. Each checks everything it can
// before its first change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/run_row.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/store.h"

namespace pawl::sqlite {

std::size_t size_of(const Append& append);

Status write_append(Connection& connection, const Append& append);
Status write_drop(Connection& connection, const RunId& run, std::uint64_t epoch,
                  const std::vector<std::uint64_t>& rows);
Status write_inbox(Connection& connection, const RunId& run, std::int64_t at_ms,
                   const std::string& body);
Status write_forgiven(Connection& connection, const RunId& run, std::uint64_t epoch);
Status write_lifted(Connection& connection, const RunSummary& summary, std::int64_t now_ms);
Status write_quarantine(Connection& connection, const RunId& run, const std::string& why,
                        std::int64_t now_ms);

// As table inbox has them.
Result<std::uint64_t> count_messages(Connection& connection, std::int64_t run);
Error messages_lost(const RunId& run, std::uint64_t had, std::uint64_t found);

// Where a driver starts, after its epoch has been raised.
struct Position {
  std::uint64_t epoch = 1;
  std::uint64_t length = 0;
  std::optional<std::string> quarantined;  // why this run is not driven
};

// Raises the epoch and counts the load; at too many loads quarantines instead. Writes nothing for a
// run that is not there. Also quarantined: one of which a record or a message cannot be found.
Result<Position> write_acquire(Connection& connection, const RunId& run, std::int64_t now_ms);

// The sum of a row of `inbox`. `run` is the number of the run.
std::int64_t sum_of_message(std::int64_t run, std::int64_t id, std::int64_t at_ms,
                            std::string_view body);
// The digest that a snapshot is stored with.
Digest digest_of(const StoredSnapshot& snapshot);

}  // namespace pawl::sqlite
