// The file of a model `scripted/FILE`: found, read and checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pawl/assembly/assembly.h"
#include "pawl/result.h"
#include "pawl/testing.h"

namespace pawl {

inline constexpr std::size_t kScriptBytesMax = std::size_t{16} << 20U;

// Reads FILE, a path that starts at the charter's directory and stays beneath it, links included.
// invalid_argument: it leads out, or is not a regular file. Never waits for a pipe or a device.
Result<std::string> read_script_file(const std::string& directory, const std::string& name);

struct ScriptText {
  std::optional<Script> script;     // nullopt when there are faults
  std::vector<std::string> faults;  // "file:line:column: message (remedy)"
};
// `path` is what the faults call the file. The faults of a text that does not look like a script
// quote nothing of it: the charter may name a file that is nobody's business.
ScriptText read_script_text(const std::string& text, const std::string& path);

// The loop outlives the models.
ScriptModels script_models(Loop& loop);

}  // namespace pawl
