// A confined process with its pipes: feeds it, reads it, and knows when it has to end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/adapter/backend/command/process_tree.h"
#include "pawl/adapter/backend/sandbox/confinement.h"
#include "pawl/adapter/backend/session/disk_watch.h"
#include "pawl/adapter/backend/session/tree_watch.h"
#include "pawl/backend.h"
#include "pawl/base/descriptor.h"

namespace pawl::backend {

// What pump() was waiting for has come.
enum class Pumped : std::uint8_t { ended, satisfied, stopped };

struct PumpLimits {
  std::int64_t time_ms = 0;
  BackendLimits session;
  TreeWatch::Past past = TreeWatch::Past::counts;
  DiskWatch* disk = nullptr;  // outlives the call
  TreeWatch::Memory memory = TreeWatch::Memory::counted;
  std::function<void()> beside = {};  // called with each look, for what else there is to look at
  // Polled beside the process; -1: `look_watched` is called with each look instead.
  int watched = -1;
  std::function<std::optional<BackendOutcome::Kind>()> look_watched = {};
};

class RunningProcess {
 public:
  // Takes the output; true: that was all that was waited for.
  using Consumer = std::function<bool(std::string_view)>;

  // `start` without its descriptors. On the thread that is to outlive the process.
  static Result<std::unique_ptr<RunningProcess>> start(std::shared_ptr<sandbox::Confinement> place,
                                                       sandbox::ProcessStart start);
  RunningProcess(const RunningProcess&) = delete;
  RunningProcess& operator=(const RunningProcess&) = delete;
  ~RunningProcess() { kill(); }

  // Sends `input`, and closes the pipe after it if that is said.
  enum class After : std::uint8_t { keep_open, close };
  // Until the consumer is satisfied, the process has ended (what it wrote has been consumed), or
  // one of the limits is reached, which `why` then says. `stop` is an eventfd.
  Pumped pump(std::string_view input, After after, const Descriptor& stop, const PumpLimits& limits,
              const Consumer& consume, std::optional<BackendOutcome::Kind>& why);

  // Kills the process and all it has started, and reaps it. Returns the wait status, if the process
  // had ended before by itself.
  std::optional<int> kill();
  // After kill(): the process had been ended by a signal from elsewhere, not by its own exit.
  bool was_signalled() const { return signalled_; }
  // What all processes together have too much of, if anything.
  std::optional<BackendOutcome::Kind> look(const PumpLimits& limits);
  // Whether it is sure that the process has started nothing that still runs.
  bool is_alone() const;
  // The largest of the processes that have ended, of those that were waited for; 0: not known.
  std::uint64_t peak_bytes() const { return peak_; }

 private:
  RunningProcess(std::shared_ptr<sandbox::Confinement> place, tool_command::TreeMark mark)
      : place_(std::move(place)), mark_(std::move(mark)) {}
  bool send(std::string_view& input);
  enum class Flow : std::uint8_t { open, closed, satisfied };
  Flow receive(const Consumer& consume, int chunks_max);
  bool has_ended() const;

  std::shared_ptr<sandbox::Confinement> place_;
  tool_command::TreeMark mark_;
  sandbox::ConfinedProcess process_;
  Descriptor input_;
  Descriptor output_;
  bool signalled_ = false;
  std::optional<TreeWatch> watch_;  // from the first look on
  std::uint64_t peak_ = 0;
  bool reaped_ = false;
};

}  // namespace pawl::backend
