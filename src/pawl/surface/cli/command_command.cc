// command: changes a run without a model call.
#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/steering.h"

namespace pawl {
namespace {

int command_command(const CliContext& context) {
  auto input = Result<std::string>(context.arguments.one_or("JSON", "{}"));
  if (*input == "-") input = context.environment.read_text("-");
  if (!input) return fail(context, input.error());
  if (const auto json = parse_json(*input); !json) {
    return fail(context, {ErrorCode::invalid_argument,
                          "the input of a command is JSON: " + json.error().message});
  }
  std::optional<InstanceId> instance;
  if (const auto named = context.arguments.one("instance")) {
    const auto id = parse_instance_id(*named);
    if (!id) return fail(context, id.error());
    instance = *id;
  }
  const std::string name = context.arguments.one_or("NAME", "");
  return with_target(context, [&](const Target& target) {
    return decide(target, target.service().command(target.run, name, *input, instance,
                                                   context.environment.user()));
  });
}

}  // namespace

CommandEntry command_entry() {
  return {
      .name = "command",
      .summary = "Change a run without a model call",
      .text =
          "NAME is a command of the node that the instance is in. It is carried out as a whole or "
          "refused before this returns, whether a process drives the run or not. If none does, "
          "nothing is started: the run waits for pawl resume where something would be.",
      .arguments = {kRunArgument,
                    {"NAME", "The command."},
                    {"JSON", "Its input, or - for standard input. Default: {}.", Need::optional}},
      .options = {{"instance", '\0', Takes::value, "I",
                   "Whose command, such as i2. Default: the primary instance that acts."}},
      .run = command_command,
  };
}

}  // namespace pawl
