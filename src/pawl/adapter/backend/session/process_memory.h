// Memory of single processes and of the machine, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace pawl::backend {

// What it has mapped, with the tables for that: reading alone costs a page for each 2 MiB. What it
// shares with others is counted in each of them.
std::uint64_t resident_bytes(pid_t process);
// The same with each shared page divided by those who share it, where the host may look; takes some
// milliseconds a gigabyte.
std::uint64_t share_bytes(pid_t process);
// Files in memory of all processes together, also where nobody has them mapped.
std::uint64_t shared_memory_bytes();

}  // namespace pawl::backend
