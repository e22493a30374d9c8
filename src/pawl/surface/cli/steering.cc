#include "pawl/surface/cli/steering.h"

#include <algorithm>

#include "pawl/json.h"
#include "pawl/service/housekeeping.h"
#include "pawl/surface/cli/drive.h"

namespace pawl {
namespace {

constexpr std::int64_t kTakenWaitMs = 5'000;
constexpr std::int64_t kTakenPollMs = 50;
constexpr std::int64_t kDecidedWaitMs = 10'000;     // for a process that drives the run
constexpr std::uint64_t kAnswerRecordsMax = 4'096;  // that an earlier answer is looked for in

// What became of an event in the inbox within kTakenWaitMs.
enum class Taken : std::uint8_t { yes, refused, not_yet, undriven, answered_before };

// Others may have said the very same: an answer is told from theirs by its name.
bool is_same(const Event& one, const Event& posted) {
  if (const auto* command = std::get_if<CommandGiven>(&posted)) {
    const auto* same = std::get_if<CommandGiven>(&one);
    return same != nullptr && same->number == command->number && same->command == command->command;
  }
  const auto* answer = std::get_if<CallDecided>(&posted);
  if (answer == nullptr || answer->answer == 0) return one == posted;
  const auto* other = std::get_if<CallDecided>(&one);
  return other != nullptr && other->answer == answer->answer;
}

bool is_pending(const Target& target, const Event& event) {
  const auto waiting = target.service().waiting(target.run);
  return waiting && std::any_of(waiting->begin(), waiting->end(),
                                [&](const Event& one) { return is_same(one, event); });
}

bool answers_same_call(const Event& one, const Event& posted) {
  const auto* mine = std::get_if<CallDecided>(&posted);
  const auto* other = std::get_if<CallDecided>(&one);
  return mine != nullptr && other != nullptr && mine->call == other->call;
}

// Looks for the event among the records since it was posted.
Taken what_became(const Target& target, const Event& event) {
  Taken taken = Taken::refused;
  for (std::uint64_t seq = target.length;; ++seq) {
    const auto record = target.service().record(target.run, seq);
    if (!record) return taken;
    if (is_same(record->event, event)) return Taken::yes;
    if (answers_same_call(record->event, event)) taken = Taken::answered_before;
  }
}

bool is_driven_now(const Target& target) {
  const auto driven = target.service().is_driven(target.run);
  return driven && *driven;
}

// Waits while a driver lives that can take it: once that is gone, only another one can.
Taken wait_until_taken(const Target& target, const Event& event) {
  MainLoop& loop = target.workspace.loop();
  const std::int64_t until = loop.monotonic_ms() + kTakenWaitMs;
  while (true) {
    const bool driven = is_driven_now(target);
    if (!is_pending(target, event)) return what_became(target, event);
    // Of a question that was answered nobody has to wait for the refusal.
    if (std::holds_alternative<CallDecided>(event)) {
      const Taken meanwhile = what_became(target, event);
      if (meanwhile != Taken::refused) return meanwhile;
    }
    if (!driven) return Taken::undriven;
    if (loop.monotonic_ms() >= until) return Taken::not_yet;
    bool due = false;
    const auto timer = loop.after(kTakenPollMs, [&due] { due = true; });
    loop.run_until([&due] { return due; });
  }
}

// Somebody may have taken the run up, or had his answer taken, since this command looked at it.
Taken after_post(const Target& target, const Event& event) {
  if (target.driven || is_driven_now(target)) return wait_until_taken(target, event);
  const bool waits = is_pending(target, event);
  const Taken meanwhile = what_became(target, event);
  return waits && meanwhile == Taken::refused ? Taken::undriven : meanwhile;
}

std::string_view past_of(InterruptDecision decision) {
  switch (decision) {
    case InterruptDecision::approve:
      return "approved";
    case InterruptDecision::reject:
      return "denied";
    case InterruptDecision::input:
      break;
  }
  return "answered";
}

std::optional<std::string> decision_in(const Event& event, const std::string& call) {
  const auto* decided = std::get_if<CallDecided>(&event);
  if (decided == nullptr || to_string(decided->call) != call) return std::nullopt;
  return std::string(past_of(decided->decision));
}

int report(const Target& target, std::string_view state, const std::string& sentence) {
  const CliContext& context = target.context;
  if (context.format() == Format::text) {
    print(context, with_data_flag(context, sentence) + "\n");
    return kExitDone;
  }
  JsonWriter json;
  json.begin_object().field("run", target.run.text).field("state", state);
  json.field("message", with_data_flag(context, sentence)).end_object();
  print(context, json.take() + "\n");
  return kExitDone;
}

// Why the run did not take it, as far as the list of runs knows.
Error came_too_late(const Target& target, const std::string& what) {
  const auto now = target.service().summary_of(target.run);
  const std::string over = now && is_over(*now) ? "the run is over: " + now->status
                                                : std::string("the run had moved on");
  return {ErrorCode::conflict,
          what + " came too late: " + over + "; see pawl show " + target.run.text};
}

// It waits where only another driver looks.
int report_stored(const Target& target, Taken taken, const std::string& what) {
  const auto now = target.service().summary_of(target.run);
  if (now && now->status == name(RunStatus::quarantined)) {
    return fail(target.context, {ErrorCode::conflict,
                                 what + " is stored, but the run is quarantined: " + now->reason +
                                     "; see pawl explain " + target.run.text});
  }
  const std::string where = taken == Taken::undriven
                                ? "; nobody drives the run"
                                : ", and the process that drives the run has not taken it yet";
  return report(target, "stored",
                what + " is stored" + where +
                    ". It takes effect when the run is carried on: pawl resume " + target.run.text);
}

// For what a live driver takes up. `what` is as in "the message".
int report_taken(const Target& target, Taken taken, const std::string& what) {
  switch (taken) {
    case Taken::yes:
      return report(target, "taken", what + " was taken up by the process that drives the run");
    case Taken::refused:
      return fail(target.context, came_too_late(target, what));
    case Taken::answered_before:
      return fail(target.context, {ErrorCode::conflict, what + " came too late"});
    case Taken::not_yet:
    case Taken::undriven:
      break;
  }
  return report_stored(target, taken, what);
}

}  // namespace

Status post_and_wait(const Target& target, const Event& event) {
  std::optional<Status> durable;
  target.service().post(target.run, event, [&](const Status& status) { durable = status; });
  target.workspace.loop().run_until([&] { return durable.has_value(); });
  return *durable;
}

// Who gave it is not said: it may have been the asker, who was gone before he was told.
std::optional<Error> answered_before(const Target& target, const std::string& call) {
  const Service& service = target.service();
  std::optional<std::string> found;
  if (const auto waiting = service.waiting(target.run)) {
    for (const Event& event : *waiting) {
      if (!found) found = decision_in(event, call);
    }
  }
  // The latest first: of those since this command looked, and of some before.
  const std::uint64_t newest = target.length + kAnswerRecordsMax;
  const std::uint64_t oldest = target.length - std::min(target.length, kAnswerRecordsMax);
  std::uint64_t end = target.length;
  while (end < newest && service.record(target.run, end)) ++end;
  for (std::uint64_t seq = end; !found && seq-- > oldest;) {
    const auto record = service.record(target.run, seq);
    if (record) found = decision_in(record->event, call);
  }
  if (!found) return std::nullopt;
  return Error{ErrorCode::conflict, call + " of run " + target.run.text +
                                        " was answered before: it is " + *found +
                                        "; see pawl show " + target.run.text};
}

int leave(const Target& target, const Result<Event>& event, const std::string& what) {
  if (!event) return fail(target.context, event.error());
  const Status posted = post_and_wait(target, *event);
  const bool refused = !posted && posted.error().code == ErrorCode::conflict;
  const Taken taken = posted ? after_post(target, *event) : Taken::answered_before;
  const auto* decided = std::get_if<CallDecided>(&*event);
  if (decided != nullptr && (refused || taken == Taken::answered_before)) {
    if (const auto before = answered_before(target, to_string(decided->call))) {
      return fail(target.context, *before);
    }
  }
  return posted ? report_taken(target, taken, what) : fail(target.context, posted.error());
}

int enforce(const Target& target, const Event& event, const std::string& done, RunStatus wanted) {
  if (const Status posted = post_and_wait(target, event); !posted) {
    return fail(target.context, posted.error());
  }
  const Status mine = target.service().take_up(target.run);
  if (!mine && mine.error().code != ErrorCode::conflict) {
    print_stderr(target.context,
                 "the request is stored and takes effect when the run is carried on, "
                 "which failed here:");
    return fail(target.context, mine.error());
  }
  if (!mine) return report_taken(target, wait_until_taken(target, event), "the request");
  DriveSession session(target.context, target.workspace, nullptr);
  const int code = session.carry_on(target.run, [] { return ok(); });
  if (code != exit_code_of(wanted)) return code;
  return report(target, name(wanted), done);
}

namespace {

void pause_for(MainLoop& loop, std::int64_t ms) {
  bool due = false;
  const auto timer = loop.after(ms, [&due] { due = true; });
  loop.run_until([&due] { return due; });
}

// Nobody drives the run: what waits is decided here. Somebody may be faster.
void decide_here(const Target& target) {
  std::optional<Status> done;
  const Status begun =
      target.service().decide(target.run, [&done](const Status& status) { done = status; });
  MainLoop& loop = target.workspace.loop();
  if (begun) return loop.run_until([&done] { return done.has_value(); });
  log(target.context, LogLevel::info, begun.error().message);
  pause_for(loop, kTakenPollMs);
}

// True: it is no longer in the inbox.
bool wait_until_decided(const Target& target, const Event& event) {
  MainLoop& loop = target.workspace.loop();
  const std::int64_t until = loop.monotonic_ms() + kDecidedWaitMs;
  while (is_pending(target, event)) {
    if (loop.monotonic_ms() >= until) return false;
    if (is_driven_now(target)) {
      pause_for(loop, kTakenPollMs);
    } else {
      decide_here(target);
    }
  }
  return true;
}

// A command that has ended the run: the end is recorded by whoever drives it.
int see_to_end(const Target& target) {
  const auto details = target.service().show(target.run);
  const bool ending = details && std::holds_alternative<Ending>(details->state.course) &&
                      std::holds_alternative<Live>(details->state.life);
  if (!ending || is_driven_now(target)) return kExitDone;
  DriveSession session(target.context, target.workspace, nullptr);
  (void)session.carry_on(target.run, [&] { return target.service().take_up(target.run); });
  return kExitDone;
}

int report_decided(const Target& target, const std::string& name) {
  (void)see_to_end(target);
  const auto details = target.service().show(target.run);
  std::string text = "the command " + name + " is carried out";
  const bool held = details && waits_for(details->state) == WaitFor::paused;
  if (held && !is_driven_now(target)) {
    text += "; nobody drives the run, go on with: pawl resume " + target.run.text;
  }
  return report(target, "decided", text);
}

}  // namespace

int decide(const Target& target, const Result<Event>& event) {
  if (!event) return fail(target.context, event.error());
  if (const Status posted = post_and_wait(target, *event); !posted) {
    return fail(target.context, posted.error());
  }
  const CommandGiven& command = std::get<CommandGiven>(*event);
  if (!wait_until_decided(target, *event)) {
    print_stderr(target.context, "not decided yet: the process that drives run " + target.run.text +
                                     " has not taken the command " + command.command +
                                     " within 10 s; it is stored, and will be decided once");
    return kExitWaiting;
  }
  if (what_became(target, *event) == Taken::yes) return report_decided(target, command.command);
  return fail(target.context, target.service().refusal_of(target.run, command));
}

int with_target_in(const CliContext& context, Workspace& workspace,
                   const std::function<int(const Target&)>& act) {
  const auto details = named_live_run(context, workspace.service());
  if (!details) return fail(context, details.error());
  const RunSummary& run = details->summary;
  return act(Target{context, workspace, run.id, run.length, run.status, details->driven});
}

int with_target(const CliContext& context, const std::function<int(const Target&)>& act) {
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  return with_target_in(context, *opened.workspace, act);
}

}  // namespace pawl
