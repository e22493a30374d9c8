// event, phase: what flows await from outside, and what people do to phases.
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/conversation.h"
#include "pawl/surface/cli/drive.h"
#include "pawl/surface/cli/live_view.h"
#include "pawl/surface/cli/steering.h"

namespace pawl {
namespace {

int command_event(const CliContext& context) {
  auto json = Result<std::string>(context.arguments.one_or("JSON", ""));
  if (*json == "-") json = context.environment.read_text("-");
  if (!json) return fail(context, json.error());
  return with_target(context, [&](const Target& target) {
    return leave(target,
                 target.service().outside_event(target.run, context.arguments.one_or("NAME", ""),
                                                *json, context.environment.user()),
                 "the event");
  });
}

// In a run that is over: it goes on, here.
int rerun_here(const CliContext& context, Workspace& workspace, const RunDetails& details,
               const std::string& phase) {
  const auto view = make_view(context, workspace, &details.state);
  DriveSession session(context, workspace, view.get());
  const RunId& run = details.summary.id;
  return session.carry_on(
      run, [&] { return workspace.service().rerun_phase(run, phase, context.environment.user()); });
}

int steer_phase(const CliContext& context, const std::string& phase, PhaseAction action) {
  return with_target(context, [&](const Target& target) {
    return leave(
        target,
        target.service().phase_control(target.run, phase, action, context.environment.user()),
        "the " + std::string(name(action)) + " of " + phase);
  });
}

int command_phase(const CliContext& context) {
  const auto action = parse_phase_action(context.arguments.one_or("ACTION", ""));
  if (!action) return fail(context, action.error());
  const std::string phase = context.arguments.one_or("NAME", "");
  if (*action == PhaseAction::rerun) {
    const Opened opened = open_workspace(context, IfAbsent::refuse);
    if (!opened.workspace) return opened.exit_code;
    Service& service = opened.workspace->service();
    const auto run = named_run(context, service);
    if (!run) return fail(context, run.error());
    const auto details = service.show(*run);
    if (!details) return fail(context, details.error());
    if (is_over(*details)) return rerun_here(context, *opened.workspace, *details, phase);
  }
  return steer_phase(context, phase, *action);
}

}  // namespace

CommandEntry event_entry() {
  return {
      .name = "event",
      .summary = "Tell a run of an event that a phase of its flow awaits",
      .text =
          "It is durable when the command returns. An event that comes early is kept until a phase "
          "awaits it, or the run ends.",
      .arguments = {kRunArgument,
                    {"NAME", "The event, as the charter's await: names it."},
                    {"JSON", "What came with it; - reads it from standard input.", Need::optional}},
      .run = command_event,
  };
}

CommandEntry phase_entry() {
  return {
      .name = "phase",
      .summary = "Steer a phase of a run's flow",
      .text =
          "skip leaves a phase out that has not begun; start begins it now, although others are to "
          "end first; cancel ends it as failed; abandon ends it with no output and lets the flow "
          "go on; rerun carries it out again with all that depends on it, also when the run is "
          "over: then the run goes on here.",
      .arguments = {kRunArgument,
                    {"NAME", "The phase, as pawl tree lists it."},
                    {"ACTION", "skip, rerun, cancel, abandon or start."}},
      .run = command_phase,
  };
}

}  // namespace pawl
