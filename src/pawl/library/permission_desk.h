// Answers to calls that wait, on their way from the host to the run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "pawl/permissions.h"
#include "pawl/service/service.h"

namespace pawl {

// Asks the host on behalf of runs that wait. Lives on the loop thread; the engine outlives it.
class PermissionDesk {
 public:
  PermissionDesk(Engine& engine, PermissionPort port);
  ~PermissionDesk();
  PermissionDesk(const PermissionDesk&) = delete;
  PermissionDesk& operator=(const PermissionDesk&) = delete;

  // True: the host is asked, and the run is taken up when all is answered; `failed` hears when that
  // is not possible. False: nobody is to be asked, or nothing waits.
  bool ask(const RunId& run, std::function<void(const Status&)> failed);
  // conflict: it does not wait. `done` when it is durable; the run is not taken up.
  void decide(const RunId& run, CallId call, Decided decided, StatusCallback done);

 private:
  struct Open;
  bool asked_too_often(const std::vector<PendingApproval>& pending);
  void settle(RunId run, CallId call, Decided decided);
  void ask_one(const PendingApproval& pending);

  Engine& engine_;
  Service service_;
  PermissionPort port_;
  std::map<RunId, Open> open_;
  std::map<std::pair<RunId, CallId>, std::uint32_t> times_asked_;  // of calls that wait
  std::shared_ptr<PermissionDesk*> self_;                          // null when the desk is gone
};

}  // namespace pawl
