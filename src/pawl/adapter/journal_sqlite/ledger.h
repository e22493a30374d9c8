// What tenants spend, in a database of its own beside the store: budget.db. Every process on the
// data directory uses the same; a transaction is one reservation or one settlement, synced.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/ledger_mark.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/port/budget.h"

namespace pawl {

inline constexpr const char* kLedgerName = "budget.db";
inline constexpr std::int64_t kLedgerBusyMsMax = 5'000;  // for another process that writes
// Entries older than this are summed up: by the minute, and by the hour after a day.
inline constexpr std::int64_t kLedgerWholeMs = 3'600'000;
inline constexpr std::int64_t kLedgerMinutesMs = 86'400'000;
inline constexpr std::uint64_t kLedgerTidyEvery = 256;  // reservations

class SqliteLedger final : public BudgetLedger {
 public:
  // Opens (and makes) the file when it is first needed. The directory must be there by then.
  explicit SqliteLedger(std::string directory) : directory_(std::move(directory)) {}

  Result<BudgetGrant> reserve(const BudgetAsk& ask) override;
  Status settle(std::uint64_t grant, const BudgetAmount& spent) override;
  Status raise(const std::string& tenant, const BudgetAmount& by, std::int64_t now_ms) override;
  Result<std::vector<BudgetEntry>> entries(const std::string& tenant, std::int64_t now_ms) override;

 private:
  Result<sqlite::Connection*> connection();
  Status tidy(sqlite::Connection& database, const std::string& tenant, std::int64_t now_ms);

  Status commit();

  std::string directory_;
  std::unique_ptr<sqlite::Connection> connection_;
  std::optional<sqlite::LedgerMark> mark_;
};

// Goes on with a ledger that is behind its mark, as an operator has decided. Returns what was
// wrong; empty: nothing, and nothing was changed. A ledger that is damaged stays refused.
Result<std::string> accept_ledger(const std::string& directory);
// Explains what is wrong with the ledger; changes nothing. Empty: nothing is, or there is none.
Result<std::string> examine_ledger(const std::string& directory);
// Makes a copy a ledger of its own, which the mark of the first does not belong to.
Status separate_ledger(const std::string& path);

}  // namespace pawl
