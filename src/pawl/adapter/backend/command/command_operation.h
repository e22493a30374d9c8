// A command under way on a thread of the pool, and what the loop thread holds of it.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "pawl/adapter/backend/command/command_pool.h"
#include "pawl/adapter/backend/command/command_run.h"
#include "pawl/base/descriptor.h"
#include "pawl/loop.h"

namespace pawl::tool_command {

// Shared by the operation and the thread. `done` belongs to the loop thread, all else to the thread
// that runs the command, except the stop event and the lock.
template <class Answer>
class CommandJob final : public CommandPool::Job,
                         public std::enable_shared_from_this<CommandJob<Answer>> {
 public:
  using Translate = std::function<Answer(const CommandEnd&)>;
  using DoneCallback = std::function<void(Answer)>;

  CommandJob(Loop& loop, CommandPlan plan, Translate translate, DoneCallback done)
      : loop_(loop),
        plan_(std::move(plan)),
        translate_(std::move(translate)),
        done_(std::move(done)),
        stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void run() noexcept override {
    try {
      conclude(run_command(plan_, stop_));
    } catch (const std::exception& error) {
      // Memory is short, most likely; the command may have run, and is dead by now.
      CommandEnd end;
      end.how = Lost{error.what()};
      conclude(end);
    }
  }

  bool can_stop() const { return static_cast<bool>(stop_); }

  void stop() const {
    const std::uint64_t one = 1;
    // Fails only when it has been written before, which is as good.
    [[maybe_unused]] const ssize_t written = ::write(stop_.number(), &one, sizeof one);
  }

  // The loop may be gone as soon as the operation is, so the lock is held while posting to it.
  void conclude(const CommandEnd& end) {
    auto deliver = [self = this->shared_from_this(), answer = translate_(end)]() mutable {
      self->deliver(std::move(answer));
    };
    const std::lock_guard lock(mutex_);
    if (!dropped_) loop_.post(std::move(deliver));
  }

  // On the loop thread. No callback after this, and no use of the loop.
  void drop() {
    DoneCallback forgotten = std::exchange(done_, nullptr);
    const std::lock_guard lock(mutex_);
    dropped_ = true;
  }

 private:
  void deliver(Answer answer) {
    if (DoneCallback done = std::exchange(done_, nullptr)) done(std::move(answer));
  }

  Loop& loop_;
  const CommandPlan plan_;
  const Translate translate_;
  DoneCallback done_;
  const Descriptor stop_;
  std::mutex mutex_;
  bool dropped_ = false;
};

template <class Answer>
class CommandOperation final : public Operation {
 public:
  using Job = CommandJob<Answer>;

  CommandOperation(std::shared_ptr<CommandPool> pool, std::shared_ptr<Job> job)
      : pool_(std::move(pool)), job_(std::move(job)) {
    if (!job_->can_stop()) {
      refuse("no descriptor for the command (raise the limit on open files)");
    } else if (auto submitted = pool_->submit(job_); !submitted) {
      refuse(submitted.error().message);
    }
  }
  CommandOperation(const CommandOperation&) = delete;
  CommandOperation& operator=(const CommandOperation&) = delete;

  ~CommandOperation() override {
    job_->drop();
    if (pool_->withdraw(*job_) == CommandPool::Withdrawn::no) job_->stop();
  }

  void abort() override {
    if (pool_->withdraw(*job_) == CommandPool::Withdrawn::no) {
      job_->stop();
    } else {
      conclude(NeverAllowed{});
    }
  }

 private:
  void refuse(std::string why) { conclude(NotStarted{std::move(why)}); }

  template <class How>
  void conclude(How how) {
    CommandEnd end;
    end.how = std::move(how);
    job_->conclude(end);
  }

  std::shared_ptr<CommandPool> pool_;
  std::shared_ptr<Job> job_;
};

}  // namespace pawl::tool_command
