// exec and bash, the tools that run programs in a session.
#include <algorithm>
#include <array>

#include "pawl/tools/common/common_tool.h"

namespace pawl {
namespace {

// At most the tool's own time.
Result<ShellCommand> timed_command(const ToolInput& call) {
  ShellCommand command;
  PAWL_TRY(const auto time_ms, call.arguments.integer("timeout", 1));
  const std::int64_t time_ms_max = call.tool.spec.timeout_ms;
  command.time_ms = std::min(time_ms.value_or(time_ms_max), time_ms_max);
  return command;
}

// Files that a tool wrote can look like a repository to git, or be a part of its configuration, and
// name programs that a mere `git status` starts.
void disarm_git(ShellCommand& command) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSettings = {
      {{"safe.bareRepository", "explicit"},
       {"core.fsmonitor", "false"},
       {"core.hooksPath", "/dev/null"},
       {"log.showSignature", "false"},
       {"gpg.program", "false"},
       {"gpg.x509.program", "false"},
       {"gpg.ssh.program", "false"}}};
  command.environment["GIT_CONFIG_COUNT"] = std::to_string(kSettings.size());
  for (std::size_t i = 0; i < kSettings.size(); ++i) {
    command.environment["GIT_CONFIG_KEY_" + std::to_string(i)] = kSettings[i].first;
    command.environment["GIT_CONFIG_VALUE_" + std::to_string(i)] = kSettings[i].second;
  }
  command.environment["GIT_CONFIG_GLOBAL"] = "/dev/null";  // HOME is the session's /tmp
  command.environment["GIT_OPTIONAL_LOCKS"] = "0";         // `git status` would write the index
}

// Whatever a person approved is what its text says, and not what an earlier command made of it.
ShellStart shell_start_of(const ToolInput& call) {
  if (call.consent == Consent::a_person) return ShellStart::fresh;
  return call.tool.shell_start ? call.tool.shell_start(call.text) : ShellStart::session;
}

Result<BackendRequest> request_exec(const ToolInput& call) {
  PAWL_TRY(ShellCommand command, timed_command(call));
  PAWL_TRY(command.argv, call.arguments.words("argv"));
  PAWL_TRY(command.input, call.arguments.text_or("input", ""));
  if (shell_start_of(call) == ShellStart::unasked) disarm_git(command);
  return BackendRequest(ExecRequest{std::move(command)});
}

Result<BackendRequest> request_bash(const ToolInput& call) {
  PAWL_TRY(ShellCommand command, timed_command(call));
  PAWL_TRY(command.command, call.arguments.text("command"));
  if (command.command.find('\0') != std::string::npos) {
    return wrong_argument("command", "a NUL is in it");
  }
  const ShellStart start = shell_start_of(call);
  if (start == ShellStart::session) return BackendRequest(BashRequest{std::move(command)});
  command.argv = {"bash", "--noprofile", "--norc", "-c", std::move(command.command)};
  command.command.clear();
  if (start == ShellStart::unasked) disarm_git(command);
  return BackendRequest(ExecRequest{std::move(command)});
}

}  // namespace

const CommonTool& exec_tool() {
  static constexpr CommonTool kTool{
      .name = "exec",
      .description =
          "Runs a program with arguments, without a shell. Prefer it to bash for single programs.",
      .schema = R"({"type":"object","properties":{
"argv":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":1000,
"description":"The program and its arguments; no shell reads them"},
"input":{"type":"string","description":"Given to the program as standard input"},
"timeout":{"type":"integer","minimum":1,"description":"Milliseconds"},
"description":{"type":"string","description":"Why it is run"}},
"required":["argv"],"additionalProperties":false})",
      .effect = EffectClass::once,
      .needs = kRunsPrograms,
      .argument = "argv",
      .kind = ArgumentKind::argv,
      .request = request_exec,
  };
  return kTool;
}

const CommonTool& bash_tool() {
  static constexpr CommonTool kTool{
      .name = "bash",
      .description =
          "Runs a command in the session's bash; directory and variables stay for the next call.",
      .schema = R"({"type":"object","properties":{
"command":{"type":"string","minLength":1,"description":"The bash command"},
"description":{"type":"string","description":"Why it is run"},
"timeout":{"type":"integer","minimum":1,"description":"Milliseconds"}},
"required":["command"],"additionalProperties":false})",
      .effect = EffectClass::once,
      .needs = kRunsPrograms,
      .argument = "command",
      .kind = ArgumentKind::command,
      .request = request_bash,
  };
  return kTool;
}

}  // namespace pawl
