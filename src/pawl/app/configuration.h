// Where the settings come from. Each of them is taken from the first that names it: flag,
// environment variable, configuration file, default.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/assembly/model_configuration.h"
#include "pawl/base/document.h"
#include "pawl/gate/policy_user.h"
#include "pawl/port/environment_reader.h"
#include "pawl/surface/cli/environment.h"

namespace pawl {

// The keys of a configuration file, all optional.
struct ConfigurationFile {
  std::optional<std::string> data;
  std::optional<LogLevel> log_level;
  std::optional<std::string> log_file;
  std::optional<Color> color;
  std::optional<std::uint64_t> kept_output;  // bytes of tools' output that all runs keep together
  ModelConfiguration models;
  std::optional<UserPolicy> policy;  // what charters may do at most
};

struct ConfigurationReading {
  ConfigurationFile file;
  std::vector<Fault> faults;
};
ConfigurationReading read_configuration(const std::string& text);

// Of a file that must be there. An empty path is no file: nothing is configured.
Result<ConfigurationFile> load_configuration(const std::string& path);

// The policies that every charter is within, the outermost first: that of the configuration file,
// then that of --policy. A fault in one of them is an error: nothing runs without it.
Result<std::vector<UserPolicy>> load_policies(const Settings& settings);

// invalid_argument: a value that is not understood, or a configuration file with faults (each with
// its line).
Result<Settings> resolve_settings(const SettingFlags& flags, const EnvironmentReader& environment);

}  // namespace pawl
