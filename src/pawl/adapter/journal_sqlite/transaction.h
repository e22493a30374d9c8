// One transaction of many jobs: what one of them is refused must not undo the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pawl/adapter/journal_sqlite/append_order.h"
#include "pawl/adapter/journal_sqlite/job.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/adapter/journal_sqlite/store_guard.h"
#include "pawl/result.h"

namespace pawl::sqlite {

class Transaction {
 public:
  // Without a guard nothing is marked: a test's.
  Transaction(Connection& connection, const AppendOrder& order, StoreGuard* guard = nullptr)
      : connection_(connection), order_(order), guard_(guard) {}

  // Adds jobs to the group while the transaction is open. False: there are no more.
  using More = std::function<bool(Group&)>;

  // Does all jobs and commits. Each has its outcome then. An error means that the transaction, if
  // it is still open, must be rolled back.
  Status write(Group& group, const More& more);
  // The next ones will bring `places` up to date, which takes a while.
  bool is_placing() const;

 private:
  // Records that get their places with a commit: more than come, or it would never end.
  static constexpr std::size_t kPlacedForEachNew = 3;
  static constexpr std::size_t kPlacedMin = 192;

  // Which jobs can be undone by themselves.
  enum class Savepoints : std::uint8_t { for_others, for_all };  // for all but appends; for all
  // Of a job that was refused and could not be undone: the transaction must be done again.
  enum class Traces : std::uint8_t { none, left };

  Status begin();
  Status prepare_guard(bool others_have_written);
  Status place_some_of_tail();
  Result<Traces> try_jobs(Group& group, std::size_t first, Savepoints savepoints);
  Result<Traces> do_job(Entry& entry, Savepoints savepoints);
  bool is_behind_a_failure(const std::string& run) const;

  Connection& connection_;
  const AppendOrder& order_;
  StoreGuard* guard_;
  std::vector<std::string> failed_;  // runs, in this transaction
  std::size_t last_jobs_ = 0;        // of the transaction before
};

}  // namespace pawl::sqlite
