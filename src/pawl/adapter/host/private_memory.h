// What this process has in memory stays there.
#pragma once

namespace pawl {

// From now on there is no core of this process, and no process but root's may look into it: neither
// a debugger nor the tools that it starts find its keys in /proc/PID/environ or /proc/PID/mem.
// Programs that it starts are as they always are. A child that has not yet become another program
// is like this one: before an ordinary user's child writes the maps of a user namespace of its own
// (/proc/self/uid_map), it must call prctl(PR_SET_DUMPABLE, 1), or they belong to root.
void keep_memory_private();

}  // namespace pawl
