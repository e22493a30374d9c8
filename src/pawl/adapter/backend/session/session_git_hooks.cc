// What a session does about git between its calls.
#include <utility>

#include "pawl/adapter/backend/session/session_core.h"

namespace pawl::backend {
namespace {

bool is_about_git(const std::string& variable) {
  return variable.starts_with("GIT_");
}

}  // namespace

// A process of its own in the sandbox, which nothing that tools have set is passed to.
git::RunInside SessionCore::inside() const {
  return [this](const git::InsideCall& call) -> Result<int> {
    sandbox::ProcessStart start = process(call.argv);
    std::erase_if(start.environment, is_about_git);
    PAWL_TRY(Started started, this->start(std::move(start)));
    PumpLimits limits = limits_of_shell();
    limits.time_ms = git::kInsideTimeMaxMs;
    limits.past = TreeWatch::Past::counts;
    limits.disk = nullptr;
    std::optional<BackendOutcome::Kind> why;
    const Descriptor never;
    bool too_much = false;
    started.process->pump(
        call.input, RunningProcess::After::close, never, limits,
        [&](std::string_view piece) { return too_much = !call.take(piece); }, why);
    const std::optional<int> code = started.process->kill();
    if (why || too_much || !code) {
      return Error{ErrorCode::unavailable, "git inside did not come to an end"};
    }
    return *code;
  };
}

void SessionCore::settle_git() {
  if (!git_ || stale_) return;
  for (std::string& text : git_->settle(inside())) git_said_.push_back(std::move(text));
}

// A git directory that no longer works is replaced before the next call, not after the one that
// damaged it: that may go on to repair it.
Status SessionCore::repair_git() {
  if (!git_ || !git_->is_damaged()) return ok();
  lost_shell_ = lost_shell_ || shell_.process != nullptr;
  end_shell();
  for (std::string& text : git_->repair()) git_said_.push_back(std::move(text));
  stale_ = true;
  return set_up();
}

// The shell ends, because what it left running could change the new repository, which is the host's
// git to believe as long as it is not mounted over.
void SessionCore::take_made_repositories() {
  if (!git_) return;
  const auto look = files_->quiet_look();
  if (look && look == git_look_) return;  // no directory was made since git was looked for
  git_look_ = look;
  if (!git_->has_made()) return;
  lost_shell_ = lost_shell_ || shell_.process != nullptr;
  end_shell();
  for (std::string& text : git_->take_made()) git_said_.push_back(std::move(text));
  stale_ = true;
  if (const Status made = set_up(); !made) {  // tried again before anything runs
    git_said_.push_back("the sandbox could not be made anew for that: " + made.error().message);
    return;
  }
  git_said_.emplace_back("the sandbox was made anew for that, and /tmp is empty");
}

}  // namespace pawl::backend
