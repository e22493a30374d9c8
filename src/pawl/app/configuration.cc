#include "pawl/app/configuration.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <span>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/base/files.h"
#include "pawl/charter/charter.h"

namespace pawl {
namespace {

constexpr std::int64_t kKeptOutputMaxBytes = std::int64_t{1} << 50U;
constexpr std::size_t kConfigurationBytesMax = 1U << 20U;
constexpr std::array<std::string_view, 4> kLevels = {"error", "warn", "info", "debug"};
constexpr std::array<std::string_view, 3> kColors = {"auto", "always", "never"};

Result<LogLevel> parse_level(const std::string& text, const std::string& where) {
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (text == kLevels[i]) return static_cast<LogLevel>(i);
  }
  return Error{ErrorCode::invalid_argument,
               where + " is " + pawl::quoted(text) + "; write error, warn, info or debug"};
}

std::string joined(const std::string& directory, const std::string& rest) {
  return (std::filesystem::path(directory) / rest).string();
}

// A directory of the XDG conventions: relative values there are to be ignored.
std::optional<std::string> base_directory(const EnvironmentReader& environment,
                                          const std::string& variable, const std::string& in_home) {
  const auto given = environment(variable);
  if (given && given->starts_with('/')) return given;
  const auto home = environment("HOME");
  if (!home) return std::nullopt;
  return joined(*home, in_home);
}

// Empty: there is none.
std::string path_of_file(const SettingFlags& flags, const EnvironmentReader& environment) {
  const auto named =
      flags.config.empty() ? environment("PAWL_CONFIG") : std::optional(flags.config);
  if (named) return *named;
  const auto base = base_directory(environment, "XDG_CONFIG_HOME", ".config");
  if (!base) return "";
  std::string path = joined(*base, "pawl/config.yaml");
  std::error_code ignored;  // Not to be found and not to be looked at are the same here.
  return std::filesystem::exists(path, ignored) ? path : "";
}

// Where the file says so: from its own directory, unless it says ~/.
std::string path_in_file(const std::string& given, const std::string& file,
                         const EnvironmentReader& environment) {
  const auto home = environment("HOME");
  if (home && given.starts_with("~/")) return joined(*home, given.substr(2));
  return joined(std::filesystem::path(file).parent_path().string(), given);
}

Result<std::string> data_directory(const SettingFlags& flags, const ConfigurationFile& file,
                                   const EnvironmentReader& environment) {
  if (!flags.data.empty()) return flags.data;
  if (const auto given = environment("PAWL_DATA")) return *given;
  if (file.data) return *file.data;
  if (const auto base = base_directory(environment, "XDG_DATA_HOME", ".local/share")) {
    return joined(*base, "pawl");
  }
  return Error{ErrorCode::invalid_argument,
               "no data directory: HOME is not set; give --data DIR or set PAWL_DATA"};
}

// Where what sessions could write is noted: beside no data directory, so that another --data does
// not hide it, unless there is no such place.
std::string trust_directory(const EnvironmentReader& environment, const std::string& data) {
  const auto base = base_directory(environment, "XDG_STATE_HOME", ".local/state");
  if (!base) return joined(data, "trust");
  std::filesystem::path there = *base;
  std::error_code ignored;  // What cannot be looked at is not there for us.
  while (there.has_relative_path() && !std::filesystem::exists(there, ignored)) {
    there = there.parent_path();
  }
  return joined(::access(there.c_str(), W_OK) == 0 ? *base + "/pawl" : data, "trust");
}

Result<LogLevel> log_level(const SettingFlags& flags, const ConfigurationFile& file,
                           const EnvironmentReader& environment) {
  if (!flags.log_level.empty()) return parse_level(flags.log_level, "--log-level");
  if (const auto given = environment("PAWL_LOG_LEVEL")) {
    return parse_level(*given, "PAWL_LOG_LEVEL");
  }
  return file.log_level.value_or(LogLevel::warn);
}

Color color_of(const SettingFlags& flags, const ConfigurationFile& file,
               const EnvironmentReader& environment) {
  if (flags.no_color == SettingFlags::NoColor::given) return Color::never;
  if (environment("NO_COLOR")) return Color::never;
  return file.color.value_or(Color::automatic);
}

}  // namespace

ConfigurationReading read_configuration(const std::string& text) {
  ConfigurationReading reading;
  DocumentResult document = parse_yaml(text);
  reading.faults = std::move(document.faults);
  // A file of comments alone says nothing, and that is fine.
  if (!document.root || document.root->kind() == Node::Kind::null) return reading;
  MapReader reader(*document.root, reading.faults, "configuration");
  std::string value;
  if (reader.take_string("data", value)) reading.file.data = value;
  if (reader.take_string("log_file", value)) reading.file.log_file = value;
  if (const auto index = reader.take_choice("log_level", kLevels)) {
    reading.file.log_level = static_cast<LogLevel>(*index);
  }
  if (const auto index = reader.take_choice("color", kColors)) {
    reading.file.color = static_cast<Color>(*index);
  }
  std::uint64_t kept_output = 0;
  if (reader.take_bytes("kept_output", {1, kKeptOutputMaxBytes}, kept_output)) {
    reading.file.kept_output = kept_output;
  }
  read_model_configuration(reader, *document.root, reading.faults, reading.file.models);
  if (const Node* policy = reader.take("policy")) {
    reading.file.policy =
        read_user_policy(*policy, reading.faults, "the configuration file", "policy");
    rules_within(std::span(&*reading.file.policy, 1), {}, reading.faults);
  }
  reader.finish();
  return reading;
}

Result<ConfigurationFile> load_configuration(const std::string& path) {
  if (path.empty()) return ConfigurationFile{};
  PAWL_TRY(const std::string text, read_file(path, kConfigurationBytesMax));
  ConfigurationReading reading = read_configuration(text);
  if (reading.faults.empty()) return std::move(reading.file);
  return Error{ErrorCode::invalid_argument,
               "the configuration file has faults:\n" + to_string(reading.faults, path)};
}

Result<std::vector<UserPolicy>> load_policies(const Settings& settings) {
  std::vector<UserPolicy> policies;
  PAWL_TRY(ConfigurationFile file, load_configuration(settings.config));
  if (file.policy) {
    policies.push_back(*std::move(file.policy));
    place_scripts(policies.back(), settings.config);
  }
  if (settings.policy.empty()) return policies;
  PAWL_TRY(const std::string text, read_file(settings.policy, kConfigurationBytesMax));
  DocumentResult document = parse_yaml(text);
  std::vector<Fault> faults = std::move(document.faults);
  if (document.root) {
    policies.push_back(read_user_policy(*document.root, faults, settings.policy, "policy"));
    place_scripts(policies.back(), settings.policy);
    if (faults.empty()) rules_within(policies, {}, faults);  // within the other one
  }
  if (faults.empty() && document.root) return policies;
  return Error{ErrorCode::invalid_argument,
               "the policy has faults:\n" + to_string(faults, settings.policy)};
}

Result<Settings> resolve_settings(const SettingFlags& flags, const EnvironmentReader& environment) {
  const std::string config = path_of_file(flags, environment);
  PAWL_TRY(ConfigurationFile file, load_configuration(config));
  for (auto* path : {&file.data, &file.log_file}) {
    if (*path) *path = path_in_file(**path, config, environment);
  }
  PAWL_TRY(const std::string data, data_directory(flags, file, environment));
  Settings settings;
  settings.data = std::filesystem::absolute(data).lexically_normal().string();
  settings.data_flag = flags.data;
  settings.trust = trust_directory(environment, settings.data);
  settings.config = config;
  if (const auto base = base_directory(environment, "XDG_CONFIG_HOME", ".config")) {
    settings.identity = joined(*base, "pawl/identity.pem");
  }
  if (!flags.policy.empty()) {
    settings.policy = std::filesystem::absolute(flags.policy).lexically_normal().string();
  }
  PAWL_TRY(settings.log_level, log_level(flags, file, environment));
  settings.log_file = !flags.log_file.empty()
                          ? flags.log_file
                          : environment("PAWL_LOG_FILE").value_or(file.log_file.value_or(""));
  settings.color = color_of(flags, file, environment);
  if (file.kept_output) settings.kept_output = *file.kept_output;
  return settings;
}

}  // namespace pawl
