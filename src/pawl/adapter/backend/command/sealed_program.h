// A copy of a program that nobody can change: what was checked is what runs, whatever happens to
// the file it came from.
#pragma once

#include <memory>
#include <string_view>

#include "pawl/base/descriptor.h"
#include "pawl/base/result.h"

namespace pawl {

using SealedProgram = std::shared_ptr<const Descriptor>;

// In memory, sealed against writing, growing and shrinking; its descriptor is above those that a
// child has. unavailable: the system gives none (vm.memfd_noexec, memory, descriptors).
Result<SealedProgram> seal_program(std::string_view bytes);

}  // namespace pawl
