// Where the settings come from. Each of them is taken from the first that names it: flag,
// environment variable, configuration file, default.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/surface/cli/environment.h"

namespace pawl {

// The keys of a configuration file, all optional.
struct ConfigurationFile {
  std::optional<std::string> data;
  std::optional<LogLevel> log_level;
  std::optional<std::string> log_file;
  std::optional<Color> color;
};

struct ConfigurationReading {
  ConfigurationFile file;
  std::vector<Fault> faults;
};
ConfigurationReading read_configuration(const std::string& text);

// Looks an environment variable up; nullopt when it is not set or empty.
using EnvironmentReader = std::function<std::optional<std::string>(const std::string&)>;

// invalid_argument: a value that is not understood, or a configuration file with faults (each with
// its line).
Result<Settings> resolve_settings(const SettingFlags& flags, const EnvironmentReader& environment);

}  // namespace pawl
