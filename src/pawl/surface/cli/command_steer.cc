// pause, cancel, message, resolve: events put into a run's inbox. Whoever drives it takes them up.
#include "pawl/base/utf8.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/conversation.h"
#include "pawl/surface/cli/steering.h"

namespace pawl {
namespace {

int command_pause(const CliContext& context) {
  return with_target(context, [&](const Target& target) {
    return enforce(target, PauseRequested{context.environment.user()},
                   "the run is paused; go on with: pawl resume " + target.run.text,
                   RunStatus::waiting);
  });
}

int command_cancel(const CliContext& context) {
  return with_target(context, [&](const Target& target) {
    const std::string reason = context.arguments.one_or("REASON", "");
    return enforce(target, CancelRequested{context.environment.user(), reason},
                   "the run is cancelled", RunStatus::cancelled);
  });
}

// When and whom a message reaches.
Result<Service::MessageWay> way_of(const Arguments& arguments) {
  Service::MessageWay way;
  if (const auto named = arguments.one("instance")) {
    PAWL_TRY(way.instance, parse_instance_id(*named));
  }
  if (arguments.has("urgent") && arguments.has("silent")) {
    return Error{ErrorCode::invalid_argument, "a message is --urgent or --silent, not both"};
  }
  if (arguments.has("urgent")) way.delivery = Delivery::urgent;
  if (arguments.has("silent")) way.delivery = Delivery::silent;
  way.singleton = arguments.one_or("singleton", "");
  return way;
}

// Its next turn begins with it.
int message_to_ended(const CliContext& context, Workspace& workspace, const RunDetails& details,
                     const std::string& text) {
  for (const std::string_view option : {"instance", "urgent", "silent", "singleton"}) {
    if (!context.arguments.has(option)) continue;
    return fail(context, {ErrorCode::conflict, "run " + details.summary.id.text +
                                                   " is over: what is said to it opens "
                                                   "its next turn, and --" +
                                                   std::string(option) + " says nothing then"});
  }
  return reopen_with(context, workspace, details, text);
}

int command_message(const CliContext& context) {
  const auto text = said_text(context, context.arguments.one_or("TEXT", ""));
  if (!text) return fail(context, text.error());
  const auto way = way_of(context.arguments);
  if (!way) return fail(context, way.error());
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  const auto run = named_run(context, opened.workspace->service());
  if (!run) return fail(context, run.error());
  const auto found = opened.workspace->service().show(*run);
  if (found && is_over(*found)) {
    return message_to_ended(context, *opened.workspace, *found, *text);
  }
  return with_target_in(context, *opened.workspace, [&](const Target& target) {
    return leave(target,
                 target.service().message(target.run, *text, context.environment.user(), *way),
                 "the message");
  });
}

int command_resolve(const CliContext& context) {
  const bool happened = context.arguments.has("happened");
  if (happened == context.arguments.has("did-not-happen")) {
    return fail(context, {ErrorCode::invalid_argument,
                          "say either --happened [RESULT] or --did-not-happen"});
  }
  const auto call = parse_call_id(context.arguments.one_or("CALL", ""));
  if (!call) return fail(context, call.error());
  const auto verdict = happened ? DoubtVerdict::happened : DoubtVerdict::did_not_happen;
  // Without a RESULT the option has an empty value.
  auto result = context.arguments.one("happened");
  if (result && result->empty()) result.reset();
  return with_target(context, [&](const Target& target) {
    return leave(
        target,
        target.service().resolution(target.run, *call, verdict, result, context.environment.user()),
        "the resolution");
  });
}

}  // namespace

CommandEntry pause_entry() {
  return {
      .name = "pause",
      .summary = "Park a run: what is under way ends, nothing new starts",
      .arguments = {kRunArgument},
      .run = command_pause,
  };
}

CommandEntry cancel_entry() {
  return {
      .name = "cancel",
      .summary = "End a run",
      .text = "What is under way is stopped. A run that nobody drives is ended here.",
      .arguments = {kRunArgument, {"REASON", "Why, for the journal.", Need::optional}},
      .run = command_cancel,
  };
}

CommandEntry message_entry() {
  return {
      .name = "message",
      .summary = "Say something to a run",
      .text =
          "It is durable when the command returns, and read at the run's next step. Of a run that "
          "is over it opens the next turn, in the same journal, and the run is driven here.",
      .arguments = {kRunArgument, {"TEXT", "The message, or - for standard input."}},
      .options = {{"instance", '\0', Takes::value, "I",
                   "For this instance, such as i2. Default: the primary instance that acts."},
                  {"urgent", '\0', Takes::nothing, "",
                   "Interrupt a model call for it; a running tool finishes."},
                  {"silent", '\0', Takes::nothing, "",
                   "It enters the conversation with the next step and wakes nobody."},
                  {"singleton", '\0', Takes::value, "KEY",
                   "Of those with KEY that wait only the last is delivered."}},
      .run = command_message,
  };
}

CommandEntry resolve_entry() {
  return {
      .name = "resolve",
      .summary = "Say what became of a call that is in doubt",
      .text = "A call is in doubt when its process died while it ran and its tool cannot be asked.",
      .arguments = {kRunArgument, {"CALL", "The call, such as c2."}},
      .options = {{"happened", '\0', Takes::value_maybe, "RESULT",
                   "It took effect; RESULT is what the model is told it returned."},
                  {"did-not-happen", '\0', Takes::nothing, "", "It did not; it is made again."}},
      .run = command_resolve,
  };
}

}  // namespace pawl
