// Standard output and error, as a program writes to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pawl {

enum class Stream : std::uint8_t { out, err };

// Bytes that were given to a stream since it is paced, bytes that the system took of them, and
// bytes in its pipe that the reader has not read.
struct Backlog {
  std::uint64_t queued = 0;
  std::uint64_t written = 0;
  std::uint64_t unread = 0;

  std::uint64_t pending() const { return queued - written; }
  bool operator==(const Backlog&) const = default;
};

// Lines of a run wait in the journal, not in memory, while more than this waits for the reader.
inline constexpr std::uint64_t kOutputPendingMax = 64U << 10U;
// How long a process whose work is done waits for a reader who does not read.
inline constexpr std::int64_t kReaderGraceMs = 5'000;

// Standard output and error. Writing never fails for the caller: who closes the pipe wants to see
// no more, and the run goes on. What is lost for another reason is told at the end.
class Console {
 public:
  virtual ~Console() = default;
  // Waits for the reader until the console is paced, and never after.
  virtual void write(Stream stream, std::string_view text) = 0;
  // From now on text is written at the reader's pace, beside the loop. `progress` is called on some
  // thread when something was written since backlog() was last asked; empty: on none any more.
  virtual void pace(std::function<void()> progress) = 0;
  virtual Backlog backlog(Stream stream) = 0;  // zeros until the console is paced
  // The reader was waited for in vain: the rest of what was written is dropped.
  virtual void abandon(Stream stream) = 0;
  // Waits until everything is written; not longer than kReaderGraceMs for a reader who does not
  // read.
  virtual void flush() = 0;
  virtual bool is_terminal(Stream stream) const = 0;
  virtual std::size_t columns() const = 0;
  // Why text was lost although somebody wanted it (a full disk); empty: it was not.
  virtual std::string loss(Stream stream) const = 0;
};

}  // namespace pawl
