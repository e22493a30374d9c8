// Facts about commands, which change a run without a model call: a part of events.h and of
// decisions.h, with the lists of which they are declared there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pawl/content.h"
#include "pawl/ids.h"
#include "pawl/words.h"

namespace pawl {

// A command as it is posted may leave its instance to the run: default_target().
inline constexpr InstanceId kDefaultTarget{0};
inline constexpr std::size_t kCommandBytesMax = 64U << 10U;  // of an input, and of its actions

// --- Events --------------------------------------------------------------------------------------

// Whether a process that has recorded a command also performs what follows from it. Where none
// does, the run pauses as soon as something would start.
enum class CommandDrive : std::uint8_t { driven, undriven };
std::string_view name(CommandDrive value);
template <>
inline constexpr std::uint8_t kCount<CommandDrive> = 2;

struct CommandGiven {
  InstanceId instance = kRootInstance;
  std::string command;  // of the node that the instance is in
  Content input;        // JSON
  std::string by;
  std::uint64_t number = 0;  // tells equal commands of several people apart
  std::string actions = {};  // JSON, by the host's function; empty: those of the charter
  CommandDrive drive = CommandDrive::driven;

  PAWL_FACT(CommandGiven, "command_given",
            PAWL_FIELD(instance) PAWL_FIELD(command) PAWL_FIELD(input) PAWL_FIELD(by)
                PAWL_FIELD(number) PAWL_FIELD(actions) PAWL_FIELD(drive));
};

// --- Decisions -----------------------------------------------------------------------------------

// A step that had not ended is given up: the instance does something else.
struct StepGivenUp {
  InstanceId instance = kRootInstance;
  std::uint64_t step = 0;

  PAWL_FACT(StepGivenUp, "step_given_up", PAWL_FIELD(instance) PAWL_FIELD(step));
};

// The instance is suspended no more. The text is the result of the call that suspended it.
struct SuspensionLifted {
  InstanceId instance = kRootInstance;
  std::optional<CallId> call = {};
  std::string text = {};
  std::uint64_t tokens = 0;  // of the text, by estimate

  PAWL_FACT(SuspensionLifted, "suspension_lifted",
            PAWL_FIELD(instance) PAWL_FIELD(call) PAWL_FIELD(text) PAWL_FIELD(tokens));
};

// What a command says to the instance, for its next step. A record has at most one.
struct MessageAdded {
  InstanceId instance = kRootInstance;
  std::string text = {};
  std::uint64_t tokens = 0;  // of the text, by estimate

  PAWL_FACT(MessageAdded, "message_added",
            PAWL_FIELD(instance) PAWL_FIELD(text) PAWL_FIELD(tokens));
};

}  // namespace pawl
