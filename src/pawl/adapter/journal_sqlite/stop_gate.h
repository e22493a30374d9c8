// Keeps a stop signal (Ctrl-Z) out of commits. A process that is stopped inside one holds the
// store's write lock, and every other process waits for it.
#pragma once

namespace pawl::sqlite {

// Held while a lock of the database is. Waits while the process is about to stop.
class CommitSection {
 public:
  CommitSection();
  ~CommitSection();
  CommitSection(const CommitSection&) = delete;
  CommitSection& operator=(const CommitSection&) = delete;
};

// Stops this process as soon as no commit is under way: at once, or when the last one ends. Returns
// when it was continued, or at once if a commit is under way. Safe in a signal handler.
void stop_between_commits() noexcept;

// From now on Ctrl-Z (SIGTSTP) stops the process when no commit is under way, so that no other
// process has to wait for a lock that a stopped one holds.
void stop_only_between_commits();

}  // namespace pawl::sqlite
