// A copy of a program that nobody can change: what was checked is what runs, whatever happens to
// the file it came from.
#pragma once

#include <string_view>

#include "pawl/port/command.h"
#include "pawl/result.h"

namespace pawl {

// In memory, sealed against writing, growing and shrinking; its descriptor is above those that a
// child has. unavailable: the system gives none (vm.memfd_noexec, memory, descriptors).
Result<SealedProgram> seal_program(std::string_view bytes);

}  // namespace pawl
