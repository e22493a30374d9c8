#include "pawl/adapter/journal_sqlite/ledger_mark.h"

#include <utility>

#include "pawl/adapter/journal_sqlite/data_directory.h"

namespace pawl::sqlite {
namespace {

constexpr const char* kReadState = "SELECT id, changes, marked FROM totals";
constexpr const char* kSetMarked = "UPDATE totals SET marked = 1";

Mark mark_of(const LedgerState& state) {
  Mark mark;
  mark.store = state.id;
  mark.newest.row = state.changes;
  return mark;
}

}  // namespace

Result<LedgerState> read_ledger_state(Connection& database) {
  Query query(database, kReadState);
  PAWL_TRY(const bool found, query.next());
  if (!found) return Error{ErrorCode::corrupt, "budget.db is damaged: its totals are gone"};
  return LedgerState{query.number_at(0), query.number_at(1), query.number_at(2)};
}

Result<LedgerMark> LedgerMark::open(const std::string& directory) {
  auto file = MarkFile::open(directory, kLedgerMarkName, MarkFile::Mode::existing);
  if (file) return LedgerMark(directory, *std::move(file));
  if (file.error().code != ErrorCode::not_found) return file.error();
  return LedgerMark(directory, std::nullopt);
}

Result<std::string> LedgerMark::shortfall(Connection& database) const {
  PAWL_TRY(const LedgerState state, read_ledger_state(database));
  std::optional<Mark> mark;
  if (file_) {
    PAWL_TRY(mark, file_->read());
  }
  if (!mark && state.marked == 0) return std::string();  // a new one
  if (!mark) return std::string("budget.mark is missing or damaged");
  if (mark->store != state.id) return std::string("budget.db was replaced by another ledger");
  if (mark->newest.row <= state.changes) return std::string();
  return "budget.db is behind its mark: " + std::to_string(mark->newest.row - state.changes) +
         " changes that were acknowledged are not in it";
}

Status LedgerMark::accept(Connection& database) {
  if (!file_) {
    PAWL_TRY(MarkFile made, MarkFile::open(directory_, kLedgerMarkName, MarkFile::Mode::made));
    file_ = std::move(made);
  }
  PAWL_TRY(const LedgerState state, read_ledger_state(database));
  const Mark mark = mark_of(state);
  PAWL_CHECK(file_->write(mark));
  PAWL_CHECK(file_->sync());
  PAWL_TRY(const auto written, file_->read());
  if (written != mark) {
    return Error{ErrorCode::unavailable,
                 "there is no space for " + directory_ + "/" + kLedgerMarkName};
  }
  PAWL_CHECK(sync_directory(directory_));
  return state.marked == 1 ? ok() : database.execute(kSetMarked);
}

Status LedgerMark::raise(const LedgerState& committed) const {
  return file_ ? file_->raise(mark_of(committed)) : ok();
}

}  // namespace pawl::sqlite
