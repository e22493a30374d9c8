// The environment of the process, as a function: tests bring their own.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace pawl {

// Looks a variable up; nullopt when it is not set or empty.
using EnvironmentReader = std::function<std::optional<std::string>(const std::string&)>;

}  // namespace pawl
