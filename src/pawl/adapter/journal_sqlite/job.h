// What the loop gives to the thread that writes, and how it is answered.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/result.h"
#include "pawl/store.h"

namespace pawl::sqlite {

// Something to do in a transaction. It is done again if the transaction was rolled back, for want
// of space or because of another job, so `work` must not change what it holds.
struct Job {
  std::string run = {};  // of work that is an append; else empty
  std::size_t bytes = 0;
  std::function<Status(Connection&)> work = {};
  StatusCallback done = {};           // called on the loop thread
  std::optional<Append> append = {};  // in place of work: almost all jobs are this
  // fail: the caller is told at once. A person waits for it, who may be the one to make space.
  enum class OnFull { wait, fail } on_full = OnFull::wait;

  const std::string& of_run() const { return append ? append->run.text : run; }
};

// The answer of a job that the loop thread waits for.
struct Waiter {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<Status> answer;
  std::atomic<bool> abandoned{false};

  void give(Status status) {
    const std::lock_guard lock(mutex);
    answer = std::move(status);
    answered.notify_all();
  }
  bool wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex);
    return answered.wait_for(lock, patience, [this] { return answer.has_value(); });
  }
};

struct Entry {
  Job job;
  std::shared_ptr<Waiter> waiter = {};  // of a job that the loop waits for
  std::optional<Status> outcome = {};
  std::optional<Written> written = {};  // of an append that was done
};
// By reference: a job is handed over three times.
using Group = std::vector<std::unique_ptr<Entry>>;

}  // namespace pawl::sqlite
