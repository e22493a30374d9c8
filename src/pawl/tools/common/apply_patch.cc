#include "pawl/tools/common/common_tool.h"

namespace pawl {
namespace {

Result<BackendRequest> request_apply_patch(const ToolInput& call) {
  PAWL_TRY(std::string text, call.arguments.text("patch"));
  return BackendRequest(FileRequest(PatchText{std::move(text)}));
}

}  // namespace

const CommonTool& apply_patch_tool() {
  static constexpr CommonTool kTool{
      .name = "apply_patch",
      .description = "Changes several files at once: all of them, or none.",
      .schema = R"({"type":"object","properties":{
"patch":{"type":"string","minLength":1,
"description":"A unified diff, or *** Begin Patch ... *** End Patch; all or nothing"},
"description":{"type":"string","description":"Why it is changed"}},
"required":["patch"],"additionalProperties":false})",
      .effect = EffectClass::once,
      .needs = kWritesFiles,
      .argument = "patch",
      .kind = ArgumentKind::patch,
      .request = request_apply_patch,
  };
  return kTool;
}

}  // namespace pawl
