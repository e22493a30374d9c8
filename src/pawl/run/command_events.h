// Commands on their way from who gives them to the kernel.
#pragma once

#include <optional>
#include <string>

#include "pawl/run/driven_run.h"

namespace pawl {

// A command as it is posted. nullopt: for the primary instance that acts, or else the deepest live
// one; which that is, is decided with the command. invalid_argument: the input is no JSON.
// limit_exceeded: it is too long.
Result<CommandGiven> command_event(std::string name, std::string input,
                                   std::optional<InstanceId> instance, std::string by);

// As the run takes it: with its instance, and with what the host's function makes of the state and
// the input. invalid_argument: a processor blocks the input. conflict: the function threw.
Status prepare_command(const DrivenRun& run, CommandDrive drive, CommandGiven& event);

}  // namespace pawl
