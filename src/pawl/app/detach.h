// A run that goes on when its terminal is gone: a child process in a session of its own.
#pragma once

#include <string>

#include "pawl/surface/cli/environment.h"

namespace pawl {

// Forks. The child's standard output and error go to `log_path`; it does `work` and ends. Returns
// in the parent, once the child has reported or died. To be called before there is any thread.
Handover detach_process(const std::string& log_path, const CliEnvironment::Background& work);

}  // namespace pawl
