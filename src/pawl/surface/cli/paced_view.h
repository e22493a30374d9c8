// Shows a run at its reader's pace: a reader who does not read never holds up the run.
#pragma once

#include <deque>
#include <memory>

#include "pawl/journal/run_loader.h"
#include "pawl/surface/cli/view.h"

namespace pawl {

// Records are shown as they come. Once more than kOutputPendingMax waits for the reader, only the
// number of the next record is kept: it and those after it are read from the journal when there is
// room. Previews are dropped meanwhile.
class PacedView {
 public:
  // Paces the console. Everything outlives this.
  PacedView(const CliContext& context, Workspace& workspace, RunView& shown);
  ~PacedView();

  void on_event(const RunEvent& event);
  // Runs the loop until everything is shown and written, the reader has not read for
  // kReaderGraceMs, or `hurried` says so; then names the command that shows the rest. `last` as in
  // RunView::finish.
  void finish(const RecordView* last, const std::function<bool()>& hurried);

 private:
  void show(const std::shared_ptr<const RecordView>& view);
  void catch_up();
  void read_some();
  bool has_room() const;
  bool wait_for_reader(const std::function<bool()>& done, const std::function<bool()>& hurried);
  std::uint64_t first_unwritten() const;
  void tell_rest();

  struct Shown {
    std::uint64_t seq = 0;
    std::uint64_t end = 0;  // of its text, among all bytes of the stream
  };

  const CliContext& context_;
  Workspace& workspace_;
  RunView& shown_;
  RunId run_;
  std::uint64_t next_ = 0;    // the record to show next
  std::uint64_t length_ = 0;  // of the journal, as far as it is known to be durable
  enum class State : std::uint8_t { live, behind, broken } state_ = State::live;
  std::unique_ptr<JournalWalker> walker_;  // since the view fell behind for the first time
  std::deque<Shown> unwritten_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace pawl
