// Why a command did not start, in words that say what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl::tool_command {

struct ChildPlan;

enum class StartStage : std::uint8_t { prepare, working_directory, execute };

Error describe_start_failure(const ChildPlan& plan, StartStage stage, int error);
// `what` could not be had: "a pipe", "a process".
Error describe_resource_failure(std::string_view what, int error);

}  // namespace pawl::tool_command
