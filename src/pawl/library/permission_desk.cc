#include "pawl/library/permission_desk.h"

#include <algorithm>
#include <set>
#include <utility>

#include "pawl/base/thrown.h"
#include "pawl/engine/engine.h"
#include "pawl/gate/approvals/approvals.h"

namespace pawl {

// What one run waits for.
struct PermissionDesk::Open {
  std::map<CallId, std::unique_ptr<Timer>> asked;  // nobody has answered yet
  std::size_t unsettled = 0;                       // asked, or answered and not durable yet
  std::function<void(const Status&)> failed;
};

PermissionDesk::PermissionDesk(Engine& engine, PermissionPort port)
    : engine_(engine),
      service_(engine),
      port_(std::move(port)),
      self_(std::make_shared<PermissionDesk*>(this)) {}

PermissionDesk::~PermissionDesk() {
  *self_ = nullptr;
}

// Forgets the calls of the run that wait no more.
bool PermissionDesk::asked_too_often(const std::vector<PendingApproval>& pending) {
  std::map<std::pair<RunId, CallId>, std::uint32_t> now;
  bool too_often = false;
  for (const PendingApproval& one : pending) {
    const auto before = times_asked_.find({one.run, one.call});
    const std::uint32_t times = before == times_asked_.end() ? 1 : before->second + 1;
    now[{one.run, one.call}] = times;
    too_often = too_often || times > kPermissionAsksMax;
  }
  std::erase_if(times_asked_,
                [&](const auto& entry) { return entry.first.first == pending.front().run; });
  times_asked_.merge(now);
  return too_often;
}

bool PermissionDesk::ask(const RunId& run, std::function<void(const Status&)> failed) {
  if (!port_.ask) return false;
  const auto details = service_.show(run);
  if (!details || !is_waiting(details->state)) return false;
  const auto pending = pending_approvals(*engine_.store().reader, details->state);
  if (!pending || pending->empty() || asked_too_often(*pending)) return false;
  Open& open = open_[run];
  open.failed = std::move(failed);
  open.unsettled = pending->size();
  for (const PendingApproval& one : *pending) {
    open.asked[one.call] =
        engine_.loop().after(port_.timeout_ms, [self = self_, run, call = one.call] {
          const Decided late{InterruptDecision::reject, std::string(kByTimeout),
                             "nobody answered in time"};
          if (*self != nullptr) (*self)->settle(run, call, late);
        });
  }
  for (const PendingApproval& one : *pending) ask_one(one);
  return true;
}

void PermissionDesk::ask_one(const PendingApproval& pending) {
  const PermissionRequest request{pending};
  if (port_.events) port_.events(request);
  // The binding of what was shown: an answer is about that.
  const auto answer = [self = self_, run = pending.run, call = pending.call,
                       shown = pending.binding](Decided decided) {
    if (*self == nullptr) return;
    decided.shown = shown;
    (*self)->settle(run, call, std::move(decided));
  };
  try {
    port_.ask(request, answer);
  } catch (...) {  // Of the host's: it denies.
    answer({InterruptDecision::reject, "host", "asking failed: " + what_was_thrown()});
  }
}

// By value: the timer that calls it may hold what it is called with.
void PermissionDesk::settle(RunId run, CallId call, Decided decided) {
  const auto found = open_.find(run);
  if (found == open_.end() || found->second.asked.erase(call) == 0) return;
  const PermissionResolved resolved{run, call, decided.decision, decided.by, decided.text};
  decide(run, call, std::move(decided), [self = self_, run, resolved](const Status& status) {
    if (*self == nullptr) return;
    PermissionDesk& desk = **self;
    if (status && desk.port_.events) desk.port_.events(resolved);
    const auto open = desk.open_.find(run);
    if (open == desk.open_.end() || --open->second.unsettled > 0) return;
    const auto failed = std::move(open->second.failed);
    desk.open_.erase(open);
    desk.engine_.take_up(run, [self, failed](const Status& taken) {
      if (*self != nullptr && !taken) failed(taken);
    });
  });
}

void PermissionDesk::decide(const RunId& run, CallId call, Decided decided, StatusCallback done) {
  const auto details = service_.show(run);
  auto event = details ? decision_about(details->state, call, std::move(decided))
                       : Result<Event>(details.error());
  if (event) return service_.post(run, *event, std::move(done));
  engine_.loop().post([done = std::move(done), error = event.error()] { done(error); });
}

}  // namespace pawl
