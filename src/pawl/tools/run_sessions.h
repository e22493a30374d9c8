// The sessions of a backend, one a run: made when a tool of the run first needs it, given back when
// the run is no longer driven here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "pawl/backend.h"
#include "pawl/tools/common_tools.h"

namespace pawl {

// Used on the loop thread, which it may not outlive.
class RunSessions : public std::enable_shared_from_this<RunSessions> {
 public:
  using Answer = std::function<void(Result<std::shared_ptr<BackendSession>>)>;

  // Of a run's session, before it is made: whatever it needs to be there is made here. What it
  // gives is kept until the session has ended.
  using Prepare = std::function<Result<std::shared_ptr<void>>(ExecutionContext&)>;

  // Whether the disk that sessions are noted on is full: one that cannot be made then is tried
  // again until there is room, as a record is that finds none. A call gives up when its time is
  // over.
  using LacksSpace = std::function<bool()>;

  // `context` is every session's, with the run filled in.
  RunSessions(std::shared_ptr<Backend> backend, ExecutionContext context, Prepare prepare,
              LacksSpace lacks_space, Loop& loop)
      : backend_(std::move(backend)),
        context_(std::move(context)),
        prepare_(std::move(prepare)),
        lacks_space_(std::move(lacks_space)),
        loop_(loop) {}

  void get(const ToolInvocation& invocation, Answer answer);
  // Ends what runs in the run's session. What is being made is given back when it is there.
  void release(const RunId& run);
  BackendSessions source();
  std::size_t size() const { return sessions_.size(); }

 private:
  struct Entry {
    std::shared_ptr<void> prepared;  // goes after the session
    std::shared_ptr<BackendSession> session;
    std::unique_ptr<Operation> starting;
    std::unique_ptr<Timer> again;
    std::vector<Answer> waiting;
  };
  void start(const RunId& run, Entry& entry);
  void on_init(const RunId& run, std::shared_ptr<void> prepared,
               Result<std::shared_ptr<BackendSession>> session);
  void clean_up(std::shared_ptr<BackendSession> session, std::shared_ptr<void> prepared);

  std::shared_ptr<Backend> backend_;
  ExecutionContext context_;
  Prepare prepare_;
  LacksSpace lacks_space_;
  Loop& loop_;
  std::map<RunId, Entry> sessions_;
  // On their way out. Owned here and by nobody's callback: who destroys this waits for them, while
  // the loop is still there.
  struct Leaving {
    std::shared_ptr<void> prepared;
    std::shared_ptr<BackendSession> session;
    std::unique_ptr<Operation> cleanup;
  };
  std::map<std::uint64_t, Leaving> leaving_;
  std::uint64_t left_ = 0;
};

}  // namespace pawl
