// Programs that the host itself runs for an agent: commands outside of the sandbox, scripts that
// judge calls, commands that give keys. One that lies beneath a write root could be written anew by
// a confined tool, and the host would run that with all its rights; so such a program is a
// protected name of the session.
//
// Not held: what a program reads or runs besides (modules, a Makefile).
#pragma once

#include <string>
#include <vector>

#include "pawl/port/backend.h"
#include "pawl/runtime/charter.h"
#include "pawl/runtime/permission/rules.h"

namespace pawl {

// Absolute paths. What is found on the PATH is none of them, but the file that a shell or another
// interpreter is given first is.
std::vector<std::string> host_programs(const Charter& charter, const std::vector<ToolRule>& rules);

void protect_programs(const std::vector<std::string>& programs, ExecutionContext& context);

}  // namespace pawl
