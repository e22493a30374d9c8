// Where a program may be, and the arrays of pointers that exec wants.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

inline constexpr std::size_t kPathEntriesMax = 256;

// The PATH of commands, on the host and in a sandbox.
inline constexpr std::string_view kCommandPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// The value of PATH in "NAME=value" texts; empty when there is none.
std::string_view find_path(const std::vector<std::string>& environment);

// The name itself when it has a slash; else the name in each directory of `path`, in its order.
// An empty entry, which would be the current directory, is none.
std::vector<std::string> program_candidates(std::string_view name, std::string_view path);

// Ends with a null pointer. The others live as long as `texts`.
std::vector<const char*> exec_pointers(const std::vector<std::string>& texts);

}  // namespace pawl
