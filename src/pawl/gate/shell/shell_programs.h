// Programs that only read, with the options for which that is true. What is not in the table, an
// option that it does not name, and an abbreviated option are all refused: the list says what is
// safe, not what is dangerous.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// The entry that speaks about a command: "ls", "git status"; empty when there is none. Only a bare
// name counts: ./ls is another program.
std::string reader_name(std::span<const std::string> argv);

// Why the command is more than reading, or nothing. `argv` has a reader_name().
std::optional<std::string> reader_fault(std::span<const std::string> argv);

// Every entry, for documents and tests.
std::vector<std::string> reader_names();

}  // namespace pawl
