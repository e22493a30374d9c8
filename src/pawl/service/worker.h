// Drives whatever is due on a store, until it is told to stop: runs whose process is gone, runs
// that something was said to, runs whose time has come. Several processes may do so: a run has one
// driver at a time, and each takes a few runs a look, so that others get some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "pawl/service/service.h"

namespace pawl {

struct WorkerOptions {
  std::size_t live_max = 64;  // runs driven here at a time
  std::int64_t look_ms = 250;
};

// Why a run was taken up.
enum class Due : std::uint8_t {
  interrupted,  // its process ended, or was killed
  told,         // an answer, a message, an event, a raise waits in its inbox
  time,         // what it waited for has come
};
std::string_view name(Due due);

class Worker {
 public:
  // Taken up (ok), or not: then it is tried again, later each time.
  using Taken = std::function<void(const RunId&, Due, const Status&)>;

  Worker(Service& service, WorkerOptions options, Taken taken);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // One look. unavailable, …: what the store said.
  Status look();
  // Nothing was due at the last look, and nothing is driven here.
  bool is_settled() const { return mine_.empty() && !found_; }
  std::size_t driven() const { return mine_.size(); }

  // Of Service::on_ended: it is no longer driven here.
  void on_ended(const RunId& run, const Status& status);

  // Takes nothing up any more, and parks what is driven here so that it goes on with the next
  // worker. `done` when nothing is driven here.
  void stop(const std::string& by, std::function<void()> done);

 private:
  // A run that was taken up and did not get further is left alone for a while.
  struct Tried {
    std::uint64_t length = 0;
    std::int64_t delay_ms = 0;
    std::int64_t again_at_ms = 0;
  };

  Status look_for_told();
  Status look_for_interrupted(RunStatus status);
  Status look_for_time();
  // False: enough for this look.
  Result<bool> consider(const RunSummary& run, Due due);
  void tell_stopped();
  bool may_try(const RunSummary& run);
  Result<std::int64_t> due_at(const RunSummary& run);

  Service& service_;
  const WorkerOptions options_;
  const Taken taken_;
  std::set<RunId> mine_;
  std::map<RunId, Tried> tried_;
  // When a waiting run goes on by itself, as long as it has this length.
  struct Wake {
    std::uint64_t length = 0;
    std::int64_t at_ms = 0;
  };
  std::map<RunId, Wake> wakes_;
  std::size_t left_ = 0;     // of this look
  bool found_ = true;        // something that was due, at the last look
  std::set<RunId> parking_;  // paused here, to go on with another worker
  std::size_t telling_ = 0;  // of them: word that they go on is on its way
  enum class State : std::uint8_t { looking, stopping } state_ = State::looking;
  std::string stopped_by_;
  std::function<void()> stopped_;
};

}  // namespace pawl
