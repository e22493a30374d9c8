#include "pawl/app/host_scripts.h"

#include <unistd.h>

#include <algorithm>

#include "pawl/adapter/backend/command/command_tool.h"
#include "pawl/app/files.h"

namespace pawl {
namespace {

constexpr std::int64_t kJudgingScriptMs = 10'000;

// What is expected of one file; none: it was not there.
struct ExpectedFile {
  std::string path;
  std::optional<Digest> digest;
};

Status admit(const FileTrust& trust, const ExpectedFile& expected) {
  const auto now = read_host_file(expected.path);
  if (!now && now.error().code == ErrorCode::not_found) return ok();  // the start fails by itself
  if (!now) return now.error();
  if (expected.digest == now->digest) return ok();
  PAWL_TRY(const auto untrusted, trust.untrusted({*now}));
  if (untrusted.empty()) return ok();
  return Error{ErrorCode::conflict, "the command was not started: " + describe(untrusted.front())};
}

}  // namespace

std::optional<JudgingScript> judging_script(const std::string& path) {
  if (::access(path.c_str(), X_OK) != 0) return std::nullopt;
  const auto bytes = read_regular_file(path, kFileBytesDigested);
  if (!bytes) return std::nullopt;
  auto sealed = seal_program(*bytes);
  if (!sealed) return std::nullopt;
  return JudgingScript{path, sha256(*bytes), *std::move(sealed)};
}

std::shared_ptr<Tool> script_tool(const std::string& directory, const JudgingScript& script,
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

std::function<Status()> admitting(std::shared_ptr<const FileTrust> trust,
                                  const std::vector<HostFile>& files,
                                  const std::vector<std::string>& paths,
                                  std::function<Status()> before) {
  if (!trust || paths.empty()) return before;
  std::vector<ExpectedFile> expected;
  for (const std::string& path : paths) {
    const auto read = std::ranges::find(files, path, &HostFile::path);
    expected.push_back({path, read == files.end() ? std::nullopt : std::optional(read->digest)});
  }
  return [trust = std::move(trust), expected = std::move(expected),
          before = std::move(before)]() -> Status {
    if (before) PAWL_CHECK(before());
    for (const ExpectedFile& one : expected) PAWL_CHECK(admit(*trust, one));
    return ok();
  };
}

}  // namespace pawl
