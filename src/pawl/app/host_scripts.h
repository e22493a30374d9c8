// What the host itself runs for an agent runs as it was when a person started the agent: scripts
// that judge calls from a sealed copy, commands by their path after a look at their digests.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/adapter/backend/command/sealed_program.h"
#include "pawl/app/file_trust.h"
#include "pawl/port/loop.h"
#include "pawl/port/tool.h"

namespace pawl {

class CommandPool;

// A program that judges calls, as it was when it was read.
struct JudgingScript {
  std::string path;  // absolute
  Digest digest;
  SealedProgram sealed;
};
// Nothing: it is not there, cannot be executed, is too long, or cannot be sealed.
std::optional<JudgingScript> judging_script(const std::string& path);
std::shared_ptr<Tool> script_tool(const std::string& directory, const JudgingScript& script,
                                  Loop& loop, const std::shared_ptr<CommandPool>& pool);

// Asked before a command starts whose files are `paths`: each has the digest it has in `files`, or
// is trusted as it is now. `before` is asked first; may be empty. Null trust: nothing is looked at.
std::function<Status()> admitting(std::shared_ptr<const FileTrust> trust,
                                  const std::vector<HostFile>& files,
                                  const std::vector<std::string>& paths,
                                  std::function<Status()> before);

}  // namespace pawl
