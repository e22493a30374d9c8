// Who ends the commands of a host that was killed.
//
// A command without a pid namespace gets a signal when its host dies, but what it has started does
// not. So there is one process beside each host that has started such commands. It waits for the
// end of a pipe that only the host holds, kills whatever carries the host's marks (process_tree.h),
// and ends. Where the host has ended as it should, there is nothing for it to do.
#pragma once

#include <sys/types.h>

#include "pawl/result.h"

namespace pawl::tool_command {

// Starts it, once a host. It is a shell: the host's own program may be anybody's, and large.
// unavailable: it could not be started, with the reason.
Status ensure_guardian();

// A child of the host that belongs to no command; 0: there is none.
pid_t guardian_process();

}  // namespace pawl::tool_command
