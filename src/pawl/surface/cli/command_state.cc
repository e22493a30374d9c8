// state: what an instance keeps, as its owner outside sets it.
#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/steering.h"

namespace pawl {
namespace {

// A run that waits takes it at once, and waits on.
int set_state(const Target& target, const Result<Event>& event) {
  if (!event) return fail(target.context, event.error());
  const bool waits = target.status == name(RunStatus::waiting) && !target.driven;
  if (!waits) return leave(target, event, "the state");
  return enforce(target, *event, "the state is set", RunStatus::waiting);
}

int command_state(const CliContext& context) {
  const std::string json = context.arguments.one_or("set", "");
  if (const auto value = parse_json(json); !value) {
    return fail(context,
                {ErrorCode::invalid_argument, "--set takes JSON: " + value.error().message});
  }
  std::optional<InstanceId> instance;
  if (const auto named = context.arguments.one("instance")) {
    const auto id = parse_instance_id(*named);
    if (!id) return fail(context, id.error());
    instance = *id;
  }
  return with_target(context, [&](const Target& target) {
    return set_state(target, target.service().state_setting(target.run, instance, json,
                                                            context.environment.user()));
  });
}

}  // namespace

CommandEntry state_entry() {
  return {
      .name = "state",
      .summary = "Set the state of an instance whose owner is outside",
      .text =
          "Of a node with state: { owner: external }. It replaces the whole state and must fit "
          "the node's schema.",
      .arguments = {kRunArgument},
      .options = {{"set", '\0', Takes::value, "JSON", "The new state."},
                  {"instance", '\0', Takes::value, "I",
                   "Whose state, such as i2. Default: the primary instance that acts."}},
      .run = command_state,
  };
}

}  // namespace pawl
