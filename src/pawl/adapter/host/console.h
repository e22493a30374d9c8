// Standard output and error of this process.
#pragma once

#include <array>
#include <memory>

#include "pawl/adapter/host/output_writer.h"
#include "pawl/port/byte_filter.h"
#include "pawl/port/console.h"

namespace pawl {

class PosixConsole final : public Console {
 public:
  // Everything that is written passes the filter.
  explicit PosixConsole(std::shared_ptr<const ByteFilter> filter) : filter_(std::move(filter)) {}
  void write(Stream stream, std::string_view text) override;
  void pace(std::function<void()> progress) override;
  Backlog backlog(Stream stream) override;
  void abandon(Stream stream) override;
  void flush() override;
  bool is_terminal(Stream stream) const override;
  std::size_t columns() const override;
  std::string loss(Stream stream) const override;

 private:
  OutputWriter* writer_of(Stream stream) const;
  void write_waiting(Stream stream, std::string_view text);

  std::shared_ptr<const ByteFilter> filter_;
  // Once paced. One for both streams where they lead to the same place, which keeps their order.
  std::array<std::shared_ptr<OutputWriter>, 2> writers_;
  std::array<bool, 2> closed_{};  // by stream: nothing more can be written
  std::array<int, 2> losses_{};   // by stream: errno, unless who read it has gone
};

// A process may be started without them; then the first files it opened would take their places.
void ensure_standard_streams();

// From now on a process that gets no more memory, threads or blocks of a mapped file says so and
// ends at once. The journal is then as after a crash, which is what it is made for; an exception
// would have to be right everywhere.
void end_when_out_of_memory();

}  // namespace pawl
