#include "pawl/run/command_events.h"

#include "pawl/base/thrown.h"
#include "pawl/gate/approvals/approvals.h"
#include "pawl/json.h"
#include "pawl/kernel/command_values.h"
#include "pawl/run/driver_processors.h"

namespace pawl {
namespace {

Result<std::string> actions_by(const CommandFunction& function, const std::string& name,
                               const std::string& state, const std::string& input) {
  PAWL_TRY(const Json state_json, parse_json(state.empty() ? "null" : state));
  PAWL_TRY(const Json input_json, parse_json(input));
  try {
    return function(state_json, input_json).text();
  } catch (...) {  // A host-supplied function: the command is refused.
    return Error{ErrorCode::conflict,
                 "the function of the command " + name + " threw: " + what_was_thrown()};
  }
}

}  // namespace

Result<CommandGiven> command_event(std::string name, std::string input,
                                   std::optional<InstanceId> instance, std::string by) {
  if (input.size() > kCommandBytesMax) {
    return Error{ErrorCode::limit_exceeded, "the input of a command has at most 64 KiB"};
  }
  if (const auto json = parse_json(input); !json) {
    return Error{ErrorCode::invalid_argument,
                 "the input of a command is JSON: " + json.error().message};
  }
  CommandGiven event;
  event.instance = instance.value_or(kDefaultTarget);
  event.command = std::move(name);
  event.input = Content(std::move(input));
  event.by = std::move(by);
  event.number = make_answer();
  return event;
}

Status prepare_command(const DrivenRun& run, CommandDrive drive, CommandGiven& event) {
  const RunState& state = run.state();
  if (event.instance == kDefaultTarget) event.instance = default_target(state);
  event.drive = drive;
  event.actions.clear();
  PAWL_CHECK(process_message(run, event.input));
  const Instance* instance = find_instance(state, event.instance);
  const NodeSpec* node = instance == nullptr ? nullptr : find_node(state.nodes, instance->node);
  const NodeCommand* command = node == nullptr ? nullptr : find_command(*node, event.command);
  // What is not there the kernel refuses.
  if (command == nullptr || !command->actions.empty()) return ok();
  const auto* function = find_function(run.setup().agent.commands, instance->node, event.command);
  const std::string* input = event.input.bytes();
  const auto json = input == nullptr ? Result<Json>(Json()) : parse_json(*input);
  // A function may rely on its schema: the kernel refuses an input that does not fit.
  const bool fits =
      input != nullptr && json && fault_of_input(command->input_schema, *json).empty();
  if (function == nullptr || !fits) return ok();
  PAWL_TRY(event.actions, actions_by(*function, event.command, instance->state, *input));
  return ok();
}

}  // namespace pawl
