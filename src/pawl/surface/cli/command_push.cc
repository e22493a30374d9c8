// push: the reply to a turn that was handed out.
#include "pawl/base/utf8.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/steering.h"

namespace pawl {

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

}  // namespace pawl
