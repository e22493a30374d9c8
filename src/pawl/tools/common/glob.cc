#include "pawl/tools/common/common_tool.h"

namespace pawl {
namespace {

Result<BackendRequest> request_glob(const ToolInput& call) {
  GlobQuery query;
  PAWL_TRY(query.pattern, call.arguments.text("pattern"));
  PAWL_TRY(query.path, call.arguments.text_or("path", "."));
  return BackendRequest(FileRequest(std::move(query)));
}

}  // namespace

const CommonTool& glob_tool() {
  static constexpr CommonTool kTool{
      .name = "glob",
      .description = "Finds files by name.",
      .schema = R"({"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"maxLength":1000,
"description":"*, ?, [a-z], {a,b}, and ** for any number of directories"},
"path":{"type":"string","minLength":1,"description":"Where to look; here unless given"}},
"required":["pattern"],"additionalProperties":false})",
      .effect = EffectClass::pure,
      .needs = kReadsFiles,
      .argument = "path",
      .kind = ArgumentKind::path_read,
      .request = request_glob,
  };
  return kTool;
}

}  // namespace pawl
