// What a tenant may spend in a time, over all its runs and all processes on one data directory.
//
// Contract: reserve() is atomic, whoever else reserves at the same time; what it grants is durable
// when it returns. What is not settled stays charged as it was reserved: a process that dies was
// not free. Times are wall-clock milliseconds; a clock that goes back makes entries younger, never
// cheaper.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::uint64_t kBudgetWindowMinMs = 1'000;
inline constexpr std::uint64_t kBudgetWindowMaxMs = 31ULL * 86'400'000;
inline constexpr std::size_t kBudgetWindowsMax = 8;

struct BudgetAmount {
  std::uint64_t cost_pico = 0;
  std::uint64_t tokens = 0;
  std::uint64_t time_ms = 0;  // of model calls

  friend bool operator==(const BudgetAmount&, const BudgetAmount&) = default;
};

// Of any stretch of `length_ms`, no more than `most`. A bound of 0 is none.
struct BudgetWindow {
  std::uint64_t length_ms = 0;
  BudgetAmount most;
  std::string currency = "USD";

  friend bool operator==(const BudgetWindow&, const BudgetWindow&) = default;
};

// One model call: what goes in, and what each token that comes out takes.
struct BudgetAsk {
  std::string tenant;
  std::string run;
  BudgetAmount input;
  std::uint64_t output_pico = 0;  // a token's
  std::uint64_t output_least = 0;
  std::uint64_t output_most = 0;
  std::vector<BudgetWindow> windows;  // all of them bind
  std::int64_t now_ms = 0;
};

struct BudgetGrant {
  std::uint64_t id = 0;  // to settle it by; 0: held
  std::uint64_t output_tokens = 0;
  BudgetAmount reserved;
  // Of one that is held: which window, and when it has room; nullopt: it never has.
  std::size_t window = 0;
  std::optional<std::int64_t> again_at_ms;

  bool granted() const { return id != 0; }
};

// One entry of a ledger, as windows see it.
struct BudgetEntry {
  std::int64_t at_ms = 0;
  BudgetAmount spent;
  BudgetAmount raised;
};

// What the window leaves, given the entries that are not older than it.
BudgetAmount left_of(const BudgetWindow& window, const std::vector<BudgetEntry>& entries,
                     std::int64_t now_ms);
BudgetAmount spent_in(const BudgetWindow& window, const std::vector<BudgetEntry>& entries,
                      std::int64_t now_ms);
// The arithmetic of reserve(), for ledgers of all kinds. A grant's id is 1. `entries` are in the
// order of their times.
BudgetGrant weigh(const BudgetAsk& ask, const std::vector<BudgetEntry>& entries);

class BudgetLedger {
 public:
  virtual ~BudgetLedger() = default;
  virtual Result<BudgetGrant> reserve(const BudgetAsk& ask) = 0;
  virtual Status settle(std::uint64_t grant, const BudgetAmount& spent) = 0;
  // Lets the tenant spend so much more; as what is spent, it leaves a window with its time.
  virtual Status raise(const std::string& tenant, const BudgetAmount& by, std::int64_t now_ms) = 0;
  // Of the last kBudgetWindowMaxMs, in the order of their times.
  virtual Result<std::vector<BudgetEntry>> entries(const std::string& tenant,
                                                   std::int64_t now_ms) = 0;
};

}  // namespace pawl
