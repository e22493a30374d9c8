#include "pawl/adapter/backend/command/judging_script.h"

#include "pawl/adapter/backend/command/command_tool.h"
#include "pawl/adapter/backend/command/sealed_program.h"
#include "pawl/base/files.h"

namespace pawl {
namespace {

constexpr std::int64_t kJudgingScriptMs = 10'000;

}  // namespace

std::optional<SealedScript> seal_script(const std::string& path, std::size_t bytes_max) {
  if (!can_be_executed(path)) return std::nullopt;
  const auto bytes = read_regular_file(path, bytes_max);
  if (!bytes) return std::nullopt;
  auto sealed = seal_program(*bytes);
  if (!sealed) return std::nullopt;
  return SealedScript{path, sha256(*bytes), *std::move(sealed)};
}

std::shared_ptr<Tool> script_tool(const std::string& directory, const SealedScript& script,
                                  Loop& loop, const std::shared_ptr<CommandPool>& pool) {
  CommandSpec spec;
  spec.tool.name = "guardrail";
  spec.tool.effect = EffectClass::pure;
  spec.tool.timeout_ms = kJudgingScriptMs;
  spec.command = {script.path};
  spec.working_directory = directory;
  spec.sealed = script.sealed;
  return make_command_tool(std::move(spec), loop, pool);
}

}  // namespace pawl
