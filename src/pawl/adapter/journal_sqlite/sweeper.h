// Deletes what removed runs held and gives space back: one slice, one job of the committer, and
// then a pause as long as the slice took, so that others write in between. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "pawl/adapter/journal_sqlite/committer.h"
#include "pawl/adapter/journal_sqlite/removal.h"
#include "pawl/loop.h"

namespace pawl::sqlite {

class Sweeper {
 public:
  using Compacted = std::function<void(Result<std::uint64_t>)>;

  // Both must outlive it.
  Sweeper(Committer& committer, Loop& loop) : committer_(committer), loop_(loop) {}

  // Goes on with what an earlier process left.
  void start();
  // `done` when nothing is left of the run with this number.
  void sweep(std::int64_t number, StatusCallback done);
  // Sweeps, then gives all unused pages back.
  void compact(Compacted done);

 private:
  void submit(std::function<Status(Connection&)> work, void (Sweeper::*then)());
  void pause(void (Sweeper::*then)());
  void sweep_slice();
  void on_swept();
  void vacuum_slice();
  void on_vacuumed();
  void finish();
  void fail(const Error& error);

  Committer& committer_;
  Loop& loop_;
  bool working_ = false;
  std::int64_t slice_began_ms_ = 0;
  std::shared_ptr<Swept> swept_ = std::make_shared<Swept>();
  std::shared_ptr<Vacuumed> vacuumed_ = std::make_shared<Vacuumed>();
  std::uint64_t pages_returned_ = 0;
  std::map<std::int64_t, StatusCallback> waiting_;  // by the run's number
  std::vector<Compacted> compactions_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace pawl::sqlite
