// Writes to inherited descriptors on a thread of its own, so that a reader who does not read holds
// up nothing but his own output.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/port/console.h"

namespace pawl {

// Writes everything, however long that takes. The error number; 0: it was written.
int write_all(int fd, std::string_view text);

// The descriptors stay blocking: their open file descriptions are shared with the process that
// started this one. May be used from any thread.
class OutputWriter {
 public:
  OutputWriter();
  // Does not wait: text that is still queued is lost, and a write that hangs is left behind.
  ~OutputWriter();
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;

  // Queues `text`, unless that makes more than `pending_max` bytes wait. Pieces are written in the
  // order in which they were put, whatever their descriptors. A descriptor that failed takes
  // everything and writes nothing.
  enum class Put : std::uint8_t { queued, dropped };
  Put put(int fd, std::string text, std::size_t pending_max);
  Backlog backlog();
  // Waits until everything is written, or until the reader has not read for `patience_ms`.
  bool flush(std::int64_t patience_ms);
  // The reader was waited for in vain: nothing is queued any more, and flush() does not wait.
  void abandon();
  // Called on the writer's thread when something was written since backlog() was last asked.
  void on_progress(std::function<void()> call);
  // The error number that ended a descriptor; 0: it is fine.
  int fault(int fd) const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace pawl
