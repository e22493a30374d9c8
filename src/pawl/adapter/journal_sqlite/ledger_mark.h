// The mark beside the ledger, `budget.mark`: which ledger it is, and how many of its changes were
// acknowledged. An older budget.db is a sound one, by which tenants could spend twice; only the
// mark tells that there was more. It is written as the store's mark is (mark.h): it can lag, and is
// never ahead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/mark.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/result.h"

namespace pawl::sqlite {

inline constexpr const char* kLedgerMarkName = "budget.mark";

// What the ledger says of itself, in its table `totals`.
struct LedgerState {
  std::int64_t id = 0;  // random
  std::int64_t changes = 0;
  std::int64_t marked = 0;  // 1: there is a mark, and a ledger without it has lost it

  friend bool operator==(const LedgerState&, const LedgerState&) = default;
};
Result<LedgerState> read_ledger_state(Connection& database);

class LedgerMark {
 public:
  // Only the file; `database` is read by the other functions, in a transaction of the caller's in
  // which no other process writes.
  static Result<LedgerMark> open(const std::string& directory);

  // Explains how the ledger falls short of its mark; empty if it does not.
  Result<std::string> shortfall(Connection& database) const;
  // Puts the mark where the ledger is, whatever it said before.
  Status accept(Connection& database);
  // After a commit, before it is acknowledged.
  Status raise(const LedgerState& committed) const;

 private:
  LedgerMark(std::string directory, std::optional<MarkFile> file)
      : directory_(std::move(directory)), file_(std::move(file)) {}
  std::string directory_;
  std::optional<MarkFile> file_;
};

}  // namespace pawl::sqlite
