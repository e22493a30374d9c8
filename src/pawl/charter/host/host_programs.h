// Programs that the host itself runs for an agent: commands outside of the sandbox, scripts that
// judge calls, commands that give keys. One that lies beneath a write root could be written anew by
// a confined tool, and the host would run that with all its rights; so such a program is a
// protected name of the session.
//
// Not held: what a program reads or runs besides (modules, a Makefile).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/backend.h"
#include "pawl/charter/charter.h"
#include "pawl/gate/rules/rules.h"

namespace pawl {

// Absolute paths. What is found on the PATH is none of them, but the file that a shell or another
// interpreter is given first is.
std::vector<std::string> host_programs(const Charter& charter, const std::vector<ToolRule>& rules);

// Of one command: the program, and the file that an interpreter is given first.
std::vector<std::string> command_files(const std::vector<std::string>& words,
                                       const std::string& directory);

void protect_programs(const std::vector<std::string>& programs, ExecutionContext& context);

// A directory of Pawl's own (data, notes on trust) beneath a root, by whatever way, can be
// neither read nor written: a tool that could write journals could approve its own calls, and other
// runs' journals are not its to read. One that is not there yet is passed over.
// invalid_argument: a write root is in it.
Status keep_data(const std::string& data, ExecutionContext& context,
                 std::string_view what = "data directory");

}  // namespace pawl
