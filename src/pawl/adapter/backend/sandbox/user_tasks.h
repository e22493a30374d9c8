// How many processes and threads a user has, for a limit that the kernel counts by user.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace pawl::sandbox {

// Somewhat too few: those of processes that hide from their own user (PR_SET_DUMPABLE) are missing.
std::uint64_t count_user_tasks(uid_t user);

}  // namespace pawl::sandbox
