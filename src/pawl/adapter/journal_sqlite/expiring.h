// Lets blobs of one run go: one slice, one job of the committer, then a pause as long as the slice
// took. The run is held meanwhile, so that nobody drives it. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "pawl/adapter/journal_sqlite/committer.h"
#include "pawl/loop.h"
#include "pawl/store.h"

namespace pawl::sqlite {

class Expiring {
 public:
  // `hold` of the run; an error in its place is what `done` is told. Committer and loop must
  // outlive it; `done` is never called after its end.
  Expiring(Committer& committer, Loop& loop, Expiry expiry, Result<std::shared_ptr<void>> hold,
           StatusCallback done);

  bool is_over() const { return over_; }

 private:
  void slice(std::optional<Error> refusal);
  void on_slice(const Status& status);

  Committer& committer_;
  Loop& loop_;
  std::shared_ptr<const Expiry> expiry_;
  std::shared_ptr<void> hold_;
  StatusCallback done_;
  std::size_t done_with_ = 0;                                              // of the blobs
  std::shared_ptr<std::size_t> taken_ = std::make_shared<std::size_t>(0);  // by the last slice
  std::int64_t slice_began_ms_ = 0;
  bool over_ = false;
  std::unique_ptr<Timer> timer_;
};

}  // namespace pawl::sqlite
