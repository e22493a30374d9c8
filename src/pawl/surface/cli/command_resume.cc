// resume: takes a run up and drives it here. One that has ended goes on, where it can.
#include <algorithm>

#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/conversation.h"
#include "pawl/surface/cli/drive.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/interactive.h"
#include "pawl/surface/cli/room_options.h"
#include "pawl/surface/cli/run_options.h"
#include "pawl/surface/cli/trust_question.h"

namespace pawl {

// A run that is over and does not go on is shown as it ended: whoever carries runs on after a crash
// need not know whether the crash came before or after the end.
int show_end(const CliContext& context, Workspace& workspace, const RunDetails& details) {
  const RunId& run = details.summary.id;
  const auto view = make_view(context, workspace, nullptr);
  std::shared_ptr<const RecordView> last;
  std::optional<Result<WatchEnd>> ended;
  const auto watch = workspace.service().watch(
      run, details.state.length - 1, Service::Follow::no,
      [&](const std::shared_ptr<const RecordView>& record) { last = record; },
      [&](const Result<WatchEnd>& end) { ended = end; });
  workspace.loop().run_until([&] { return ended.has_value(); });
  if (!*ended) return fail(context, ended->error());
  PAWL_ASSERT(last != nullptr);  // a run that is over has a last record
  view->note("run " + run.text + " is over");
  view->on_event(last);
  view->finish(last.get());
  return exit_code_of(last->status);
}

int take_up_here(const CliContext& context, Workspace& workspace, const RunDetails& details) {
  const RunId& run = details.summary.id;
  const auto view = make_view(context, workspace, &details.state);
  DriveSession session(context, workspace, view.get());
  const int code = session.carry_on(run, [&] {
    return resume_trusted(context, [&] { return workspace.service().resume(run); });
  });
  return decide_at_terminal(context, workspace, run, code);
}

int then_resume(const CliContext& context, Workspace& workspace, const RunId& run, int code) {
  const bool shown_only = context.arguments.has("full");
  if (code != kExitDone || shown_only || !context.arguments.has("resume")) return code;
  const auto details = workspace.service().show(run);
  if (!details) return fail(context, details.error());
  const bool mine = !details->driven && !is_over(*details);
  return mine ? take_up_here(context, workspace, *details) : code;
}

namespace {

// Where an instance is named, the event that resumes it goes first.
Status resume_instance(const CliContext& context, Service& service, const RunId& run) {
  const auto instance = context.arguments.one("instance");
  const auto suspend_id = context.arguments.one("suspend-id");
  if (!instance && !suspend_id) {
    if (context.arguments.has("message")) {
      return Error{ErrorCode::invalid_argument, "--message goes with --instance and --suspend-id"};
    }
    return service.resume(run);
  }
  if (!instance || !suspend_id) {
    return Error{ErrorCode::invalid_argument,
                 "--instance and --suspend-id belong together; pawl explain names both"};
  }
  PAWL_TRY(const InstanceId id, parse_instance_id(*instance));
  PAWL_TRY(Event event,
           service.instance_resumption(run, id, *suspend_id, context.environment.user(),
                                       context.arguments.one_or("message", "")));
  PAWL_CHECK(service.resume(run));
  return service.feed(run, std::move(event));
}

// Processes that were killed while they loaded a run, for want of memory or by hand, prove nothing
// against it: where an operator names it, it is checked, and goes on if it is sound. Runs that are
// only due stay quarantined, so that one that ends its process holds up no other.
bool lift_vain_loads(const CliContext& context, Service& service, const RunId& run) {
  const auto summary = service.summary_of(run);
  if (!summary || !summary->reason.starts_with("loaded ")) return false;
  const auto lifted = service.lift_quarantine(run);
  if (!lifted || !*lifted) return false;
  log(context, LogLevel::warn,
      "run " + run.text + " was " + summary->reason +
          "; all of its journal was checked and is sound, so its quarantine is lifted");
  return true;
}

Status resume_sound(const CliContext& context, Service& service, const RunId& run) {
  Status resumed = resume_instance(context, service, run);
  if (resumed || resumed.error().code != ErrorCode::corrupt) return resumed;
  return lift_vain_loads(context, service, run) ? resume_instance(context, service, run) : resumed;
}

// A limit, a guard, a failure: what a person can mend, and then the run goes on.
bool can_go_on(const RunDetails& details) {
  const RunStatus status = status_of(details.state);
  return status == RunStatus::stopped || status == RunStatus::failed;
}

// Told how a beginning went, once; may be empty.
using Begun = std::function<void(const Status&)>;

int drive_on(const CliContext& context, Workspace& workspace, const RunDetails& details,
             const std::function<Status()>& resume, const Begun& begun) {
  const auto view = make_view(context, workspace, &details.state);
  DriveSession session(context, workspace, view.get());
  const RunId& run = details.summary.id;
  const int code = session.carry_on(run, [&] {
    Status resumed = resume_trusted(context, resume);
    if (begun) begun(resumed);
    return resumed;
  });
  return begun ? code : decide_at_terminal(context, workspace, run, code);
}

int refuse(const CliContext& context, const Error& error, const Begun& begun) {
  if (begun) begun(error);
  return fail(context, error);
}

// Without room for another step it is shown as it ended; its explanation names what it needs.
int go_on(const CliContext& context, Workspace& workspace, const RunDetails& details,
          const Begun& begun) {
  const RunId& run = details.summary.id;
  Service& service = workspace.service();
  const auto room = room_of(context.arguments, details.state);
  if (!room) return refuse(context, room.error(), begun);
  const auto event =
      service.reopening(run, {room->limits, room->guards}, context.environment.user());
  if (!event && (begun || asks_for_room(context.arguments))) {
    return refuse(context, event.error(), begun);
  }
  if (!event) return show_end(context, workspace, details);
  return drive_on(context, workspace, details, [&] { return service.reopen(run, *event); }, begun);
}

int resume_ended(const CliContext& context, Workspace& workspace, const RunDetails& details,
                 const Begun& begun) {
  for (const std::string_view option : {"instance", "suspend-id", "message"}) {
    if (!context.arguments.has(option)) continue;
    return refuse(context,
                  {ErrorCode::conflict, "run " + details.summary.id.text +
                                            " is over: none of its instances is suspended, and --" +
                                            std::string(option) + " says nothing"},
                  begun);
  }
  if (can_go_on(details)) return go_on(context, workspace, details, begun);
  if (!begun && !asks_for_room(context.arguments)) return show_end(context, workspace, details);
  const std::string& run = details.summary.id.text;
  return refuse(
      context,
      {ErrorCode::conflict, "run " + run + " is " + details.summary.status +
                                "; say something to it with: pawl message " + run + " TEXT"},
      begun);
}

// Takes up, one after the other, the runs that waited for a time which has come.
int resume_due(const CliContext& context, Workspace& workspace) {
  Service& service = workspace.service();
  ListQuery query;
  query.status = name(RunStatus::waiting);
  int code = kExitDone;
  const Status listed = service.for_each(query, [&](const RunSummary& one) -> Result<bool> {
    const auto details = service.show(one.id);
    const bool damaged = one.status == name(RunStatus::quarantined);  // not waiting: see list()
    if (damaged || (!details && details.error().code == ErrorCode::corrupt)) {
      const std::string& why = damaged ? one.reason : details.error().message;
      log(context, LogLevel::error, "run " + one.id.text + " is left alone: " + why);
      code = std::max(code, kExitQuarantined);
      return true;
    }
    const auto due = details ? wake_wall_at(details->state) : std::nullopt;
    if (!due || *due > workspace.loop().wall_ms()) return true;
    const auto view = make_view(context, workspace, &details->state);
    DriveSession session(context, workspace, view.get());
    code = std::max(code, session.carry_on(one.id, [&] {
      return resume_trusted(context, [&] { return service.resume(one.id); });
    }));
    return true;
  });
  return listed ? code : fail(context, listed.error());
}

// Of a run that is not over only the budget can be raised: it may wait for that.
Result<std::optional<Event>> raise_while_live(const CliContext& context, const Service& service,
                                              const RunDetails& details) {
  if (!asks_for_room(context.arguments)) return std::optional<Event>();
  const RunId& run = details.summary.id;
  const std::string cost = context.arguments.one_or("cost", "");
  if (asks_for_more_than_cost(context.arguments) || !cost.starts_with('+')) {
    return Error{ErrorCode::conflict, "run " + run.text +
                                          " is not over: until it is, only --cost +AMOUNT raises "
                                          "what it has; pawl fork " +
                                          run.text + " takes other limits now"};
  }
  BudgetAmount more;
  PAWL_TRY(more.cost_pico,
           parse_money_option("cost", cost.substr(1), details.state.prices.currency));
  PAWL_TRY(Event event, service.budget_raise(run, more, context.environment.user()));
  return std::optional<Event>(std::move(event));
}

int resume_named(const CliContext& context, Workspace& workspace, const Begun& begun) {
  Service& service = workspace.service();
  if (const auto named = named_run(context, service)) {
    const auto found = service.show(*named);
    if (found && is_over(*found)) return resume_ended(context, workspace, *found, begun);
    lift_vain_loads(context, service, *named);
  }
  const auto details = named_live_run(context, service);
  if (!details) return refuse(context, details.error(), begun);
  const RunId& run = details->summary.id;
  const auto raise = raise_while_live(context, service, *details);
  if (!raise) return refuse(context, raise.error(), begun);
  const auto resume = [&]() -> Status {
    PAWL_CHECK(resume_sound(context, service, run));
    return *raise ? service.feed(run, **raise) : ok();
  };
  return drive_on(context, workspace, *details, resume, begun);
}

int resume_behind(const CliContext& context, const std::function<void(Handover)>& report) {
  auto workspace = context.environment.open(context.settings, IfAbsent::refuse);
  const auto tell = [&](const Status& status) {
    if (status) return report({kExitDone, ""});
    report({exit_code_of(status.error()), "pawl: " + safe_text(status.error().message) + "\n"});
  };
  if (!workspace) {
    tell(workspace.error());
    return kExitError;
  }
  return resume_named(context, **workspace, tell);
}

int resume_detached(const CliContext& context) {
  RunId run;
  {
    const Opened opened = open_workspace(context, IfAbsent::refuse);
    if (!opened.workspace) return opened.exit_code;
    const auto named = named_run(context, opened.workspace->service());
    if (!named) return fail(context, named.error());
    run = *named;
  }
  const Handover handover = context.environment.detach(
      context.settings, run.text + ".log",
      [&](const std::function<void(Handover)>& report) { return resume_behind(context, report); });
  return report_detached(context, run, handover);
}

int command_resume(const CliContext& context) {
  const bool due = context.arguments.has("due");
  const bool detach = context.arguments.has("detach");
  const bool of_one = detach || asks_for_room(context.arguments);
  if (due == context.arguments.has("RUN") || (due && of_one)) {
    return fail(context, {ErrorCode::invalid_argument,
                          "name a RUN, or say --due, which takes nothing else"});
  }
  if (detach) return resume_detached(context);
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  return due ? resume_due(context, *opened.workspace)
             : resume_named(context, *opened.workspace, {});
}

}  // namespace

CommandEntry resume_entry() {
  return {
      .name = "resume",
      .summary = "Take a run up and drive it to its end or next wait",
      .text =
          "A paused run goes on. A run that waits for a person says for what. A run that a limit "
          "or a guard stopped, or that failed, goes on where it was, with more room where it needs "
          "some; nothing is done twice. One that is done or cancelled is shown: pawl message says "
          "more to it.",
      .arguments = {{kRunArgument.name, kRunArgument.help, Need::optional}},
      .options = with_room_options(
          {{"due", '\0', Takes::nothing, "", "All runs that waited for a time which has come."},
           {"detach", 'd', Takes::nothing, "", "Drive it in the background and print its id."},
           {"instance", '\0', Takes::value, "I", "The suspended instance to resume, such as i2."},
           {"suspend-id", '\0', Takes::value, "S", "The suspension it is resumed from."},
           {"message", '\0', Takes::value, "TEXT",
            "What the instance is told: the result of its call of suspend."}}),
      .run = command_resume,
  };
}

}  // namespace pawl
