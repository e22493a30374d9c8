#include "pawl/adapter/journal_sqlite/sweeper.h"

#include <utility>

#include "pawl/adapter/journal_sqlite/schema.h"

namespace pawl::sqlite {

void Sweeper::start() {
  if (std::exchange(working_, true)) return;
  sweep_slice();
}

void Sweeper::sweep(std::int64_t number, StatusCallback done) {
  waiting_[number] = std::move(done);
  start();
}

void Sweeper::compact(Compacted done) {
  compactions_.push_back(std::move(done));
  start();
}

void Sweeper::submit(std::function<Status(Connection&)> work, void (Sweeper::*then)()) {
  slice_began_ms_ = loop_.monotonic_ms();
  Job job{"", 0, std::move(work), [this, then](const Status& status) {
            if (!status) return fail(status.error());
            (this->*then)();
          }};
  job.on_full = Job::OnFull::fail;
  committer_.submit(std::move(job));
}

void Sweeper::pause(void (Sweeper::*then)()) {
  timer_ = loop_.after(pause_ms(loop_.monotonic_ms() - slice_began_ms_),
                       [this, then] { (this->*then)(); });
}

void Sweeper::sweep_slice() {
  submit(
      [swept = swept_](Connection& connection) -> Status {
        PAWL_TRY(*swept, sqlite::sweep_slice(connection, SliceBudget{}));
        return ok();
      },
      &Sweeper::on_swept);
}

void Sweeper::on_swept() {
  std::vector<StatusCallback> done;
  for (const std::int64_t number : swept_->finished) {
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) continue;
    done.push_back(std::move(found->second));
    waiting_.erase(found);
  }
  const bool more = swept_->more;
  if (!more) {
    // Those that another process has finished.
    for (auto& [number, callback] : std::exchange(waiting_, {})) {
      done.push_back(std::move(callback));
    }
  }
  if (more) {
    pause(&Sweeper::sweep_slice);
  } else if (!compactions_.empty()) {
    vacuum_slice();
  } else {
    working_ = false;
  }
  for (const StatusCallback& callback : done) callback(ok());
}

void Sweeper::vacuum_slice() {
  submit(
      [vacuumed = vacuumed_](Connection& connection) -> Status {
        PAWL_TRY(*vacuumed, sqlite::vacuum_slice(connection, SliceBudget{}));
        return ok();
      },
      &Sweeper::on_vacuumed);
}

void Sweeper::on_vacuumed() {
  pages_returned_ += vacuumed_->pages;
  if (vacuumed_->more) return pause(&Sweeper::vacuum_slice);
  // The file becomes shorter when the log has been written back.
  committer_.write_back_soon([this] { finish(); });
}

void Sweeper::finish() {
  const std::uint64_t bytes = std::exchange(pages_returned_, 0) * kPageBytes;
  working_ = false;
  const auto done = std::exchange(compactions_, {});
  if (!waiting_.empty()) start();
  for (const Compacted& callback : done) callback(bytes);
}

void Sweeper::fail(const Error& error) {
  working_ = false;
  pages_returned_ = 0;
  const auto waiting = std::exchange(waiting_, {});
  const auto compactions = std::exchange(compactions_, {});
  for (const auto& [number, callback] : waiting) callback(error);
  for (const Compacted& callback : compactions) callback(error);
}

}  // namespace pawl::sqlite
