#include "pawl/tools/run_sessions.h"

namespace pawl {
namespace {

constexpr std::int64_t kFullRetryMs = 250;

}  // namespace

BackendSessions RunSessions::source() {
  return [self = shared_from_this()](const ToolInvocation& invocation, Answer answer) {
    self->get(invocation, std::move(answer));
  };
}

void RunSessions::get(const ToolInvocation& invocation, Answer answer) {
  Entry& entry = sessions_[invocation.run];
  if (entry.session) return answer(entry.session);
  entry.waiting.push_back(std::move(answer));
  if (!entry.starting && !entry.again) start(invocation.run, entry);
}

void RunSessions::start(const RunId& run, Entry& entry) {
  ExecutionContext context = context_;
  context.run = run;
  auto prepared = prepare_ ? prepare_(context) : std::shared_ptr<void>();
  if (!prepared) return on_init(run, nullptr, prepared.error());
  entry.starting = backend_->init(std::move(context), [weak = weak_from_this(), run,
                                                       kept = *std::move(prepared)](auto session) {
    if (const auto self = weak.lock()) self->on_init(run, kept, std::move(session));
  });
}

void RunSessions::on_init(const RunId& run, std::shared_ptr<void> prepared,
                          Result<std::shared_ptr<BackendSession>> session) {
  const auto found = sessions_.find(run);
  if (found == sessions_.end()) {
    if (session) clean_up(*std::move(session), std::move(prepared));
    return;
  }
  Entry& entry = found->second;
  loop_.post([gone = std::shared_ptr<Operation>(std::move(entry.starting))] {});
  if (!session && lacks_space_ && lacks_space_()) {
    entry.again = loop_.after(kFullRetryMs, [weak = weak_from_this(), run] {
      const auto self = weak.lock();
      const auto waiting = self ? self->sessions_.find(run) : std::map<RunId, Entry>::iterator();
      if (!self || waiting == self->sessions_.end()) return;
      self->loop_.post([gone = std::shared_ptr<Timer>(std::move(waiting->second.again))] {});
      self->start(run, waiting->second);
    });
    return;
  }
  const std::vector<Answer> waiting = std::exchange(entry.waiting, {});
  if (session) {
    entry.prepared = std::move(prepared);
    entry.session = *session;
  }
  // One that could not be made is tried again by the next call.
  if (!session) sessions_.erase(found);
  for (const Answer& answer : waiting) answer(session);
}

void RunSessions::release(const RunId& run) {
  const auto found = sessions_.find(run);
  if (found == sessions_.end()) return;
  std::shared_ptr<void> prepared = std::move(found->second.prepared);
  std::shared_ptr<BackendSession> session = std::move(found->second.session);
  sessions_.erase(found);
  if (session) clean_up(std::move(session), std::move(prepared));
}

void RunSessions::clean_up(std::shared_ptr<BackendSession> session,
                           std::shared_ptr<void> prepared) {
  const std::uint64_t number = ++left_;
  Leaving& leaving = leaving_[number];
  leaving.prepared = std::move(prepared);
  leaving.session = std::move(session);
  leaving.cleanup = leaving.session->cleanup([weak = weak_from_this(), number](const Status&) {
    const auto self = weak.lock();
    if (!self) return;
    // Not from inside its own callback.
    self->loop_.post([weak, number] {
      if (const auto alive = weak.lock()) alive->leaving_.erase(number);
    });
  });
}

}  // namespace pawl
