// The command table as text: for people, for man, for shells.
#pragma once

#include <string>
#include <string_view>

#include "pawl/result.h"
#include "pawl/surface/cli/command_table.h"

namespace pawl {

// Of one command, or of all (nullptr).
std::string help_text(const CommandEntry* command);
// roff.
std::string man_page();
// invalid_argument: a shell that is not known.
Result<std::string> completion_script(std::string_view shell);

}  // namespace pawl
