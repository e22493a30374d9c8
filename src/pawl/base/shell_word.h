// Words of a command that somebody may copy into a shell.
#pragma once

#include <string>

namespace pawl {

// The word itself where it is plain.
std::string shell_quoted(const std::string& word);

}  // namespace pawl
