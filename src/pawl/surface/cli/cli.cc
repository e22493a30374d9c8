#include "pawl/kernel/codec.h"
#include "pawl/surface/cli/command_table.h"
#include "pawl/surface/cli/context.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/help.h"
#include "pawl/surface/cli/trust_question.h"

namespace pawl {
namespace {

SettingFlags flags_of(const Arguments& arguments) {
  SettingFlags flags;
  flags.data = arguments.one_or("data", "");
  flags.config = arguments.one_or("config", "");
  flags.policy = arguments.one_or("policy", "");
  flags.log_level = arguments.one_or("log-level", arguments.has("debug") ? "debug" : "");
  flags.log_file = arguments.one_or("log-file", "");
  if (arguments.has("no-color")) flags.no_color = SettingFlags::NoColor::given;
  return flags;
}

std::string version_text(const VersionNumbers& versions) {
  return "pawl " + versions.program + "\n" + "journal schema " + std::to_string(versions.schema) +
         ", record " + record_version() + ", snapshot " + std::to_string(kSnapshotVersion) +
         ", semantics " + std::to_string(kSemantics) + "\n";
}

// A configuration or a policy that an agent may have written counts only if a person says so.
bool may_use_settings(const CliContext& context) {
  const std::vector<FileQuestion>& questions = context.settings.questions;
  if (questions.empty() || person_trusts(context, questions)) return true;
  for (const FileQuestion& question : questions) print_stderr(context, question.why);
  return false;
}

int dispatch(const CliContext& context) {
  const CommandEntry* command = find_command(context.arguments.command);
  if (command == nullptr) return kExitUsage;
  if (command->settings == SettingsUse::used && !may_use_settings(context)) return kExitUsage;
  return command->run(context);
}

// "--data $DIR" without a DIR would otherwise go somewhere else than was meant.
Status check_named(const Arguments& arguments) {
  for (const std::string_view name : {"data", "config", "log-level", "log-file"}) {
    if (arguments.one_or(name, "-").empty()) {
      return Error{ErrorCode::invalid_argument,
                   "--" + std::string(name) + " is empty; give it a value, or leave it out"};
    }
  }
  return ok();
}

int run_command(int argc, const char* const* argv, CliEnvironment& environment) {
  Console& console = environment.console();
  auto arguments = parse_arguments(argc, argv);
  if (!arguments) {
    console.write(Stream::err, "pawl: " + safe_text(arguments.error().message) + "\n");
    return kExitUsage;
  }
  if (arguments->has("version")) {
    console.write(Stream::out, version_text(environment.versions()));
    return kExitDone;
  }
  if (arguments->has("help")) {
    console.write(Stream::out, help_text(find_command(arguments->command)));
    return kExitDone;
  }
  if (arguments->command.empty()) {
    console.write(Stream::err, help_text(nullptr));
    return kExitUsage;
  }
  const Status named = check_named(*arguments);
  auto settings =
      named ? environment.settings(flags_of(*arguments)) : Result<Settings>(named.error());
  if (!settings) {
    console.write(Stream::err, "pawl: " + safe_text(settings.error().message) + "\n");
    return kExitUsage;
  }
  const CliContext context{environment, *std::move(arguments), *std::move(settings)};
  return dispatch(context);
}

}  // namespace

int run_cli(int argc, const char* const* argv, CliEnvironment& environment) {
  const int code = run_command(argc, argv, environment);
  Console& console = environment.console();
  console.flush();
  const std::string loss = console.loss(Stream::out);
  if (loss.empty()) return code;
  console.write(Stream::err,
                "pawl: standard output: " + loss + "; what was printed is not whole\n");
  console.flush();
  return code == kExitDone ? kExitError : code;
}

}  // namespace pawl
