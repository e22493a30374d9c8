// push: the reply to a turn that was handed out.
#include "pawl/base/utf8.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/steering.h"

namespace pawl {
namespace {

int command_push(const CliContext& context) {
  Service::ExternalTurn turn;
  auto text = Result<std::string>(context.arguments.one_or("message", ""));
  if (*text == "-") text = context.environment.read_text("-");
  if (!text) return fail(context, text.error());
  if (!is_valid_utf8(*text)) {
    return fail(context, {ErrorCode::invalid_argument, "--message is UTF-8 text"});
  }
  turn.text = *std::move(text);
  for (const std::string& one : context.arguments.many("call")) {
    auto call = parse_key_value(one);
    if (!call) {
      return fail(context, {ErrorCode::invalid_argument,
                            "--call takes TOOL=JSON, such as --call 'today={}'"});
    }
    turn.calls.emplace_back(std::move(call->key), std::move(call->value));
  }
  return with_target(context, [&](const Target& target) {
    return leave(target,
                 target.service().external_turn(target.run, turn, context.environment.user()),
                 "the turn");
  });
}

}  // namespace

CommandEntry push_entry() {
  return {
      .name = "push",
      .summary = "Take the turn of a run that was handed out",
      .text =
          "A run whose model is 'external' waits for its turns. What is pushed is the model's "
          "reply: calls pass the same checks as a model's, and a turn without calls ends the run.",
      .arguments = {kRunArgument},
      .options = {{"message", '\0', Takes::value, "TEXT", "What it says; - reads standard input."},
                  {"call", '\0', Takes::values, "TOOL=JSON",
                   "A tool to call, with its input. Repeatable."}},
      .run = command_push,
  };
}

}  // namespace pawl
