#include "pawl/adapter/journal_sqlite/expiring.h"

#include <utility>

#include "pawl/adapter/journal_sqlite/expiry.h"

namespace pawl::sqlite {

Expiring::Expiring(Committer& committer, Loop& loop, Expiry expiry,
                   Result<std::shared_ptr<void>> hold, StatusCallback done)
    : committer_(committer),
      loop_(loop),
      expiry_(std::make_shared<const Expiry>(std::move(expiry))),
      done_(std::move(done)) {
  std::optional<Error> refusal;
  if (hold) {
    hold_ = *std::move(hold);
  } else {
    refusal = hold.error();
  }
  slice(std::move(refusal));
}

void Expiring::slice(std::optional<Error> refusal) {
  slice_began_ms_ = loop_.monotonic_ms();
  Job job;
  job.on_full = Job::OnFull::fail;
  job.work = [expiry = expiry_, taken = taken_, from = done_with_](Connection& connection) {
    const auto done = expire_slice(connection, *expiry, from, SliceBudget{});
    if (!done) return Status(done.error());
    *taken = *done;
    return ok();
  };
  job.done = [this](const Status& status) { on_slice(status); };
  committer_.submit(std::move(job), std::move(refusal));
}

void Expiring::on_slice(const Status& status) {
  if (status) done_with_ += *taken_;
  if (status && done_with_ < expiry_->blobs.size()) {
    timer_ = loop_.after(pause_ms(loop_.monotonic_ms() - slice_began_ms_), [this] { slice({}); });
    return;
  }
  over_ = true;
  hold_.reset();
  const StatusCallback done = std::move(done_);  // It may begin another, which ends this.
  done(status);
}

}  // namespace pawl::sqlite
