#include "pawl/tools/common/common_tool.h"

namespace pawl {
namespace {

Result<BackendRequest> request_str_replace(const ToolInput& call) {
  StrReplace edit;
  PAWL_TRY(edit.path, call.arguments.text("path"));
  PAWL_TRY(edit.old_str, call.arguments.text("old_str"));
  PAWL_TRY(edit.new_str, call.arguments.text_or("new_str", ""));
  return BackendRequest(std::move(edit));
}

}  // namespace

const CommonTool& str_replace_tool() {
  static constexpr CommonTool kTool{
      .name = "str_replace",
      .description = "Replaces a text that occurs exactly once in a file by another.",
      .schema = R"({"type":"object","properties":{
"path":{"type":"string","minLength":1},
"old_str":{"type":"string","minLength":1,"description":"Must occur exactly once in the file"},
"new_str":{"type":"string","description":"Nothing unless given: old_str is removed"},
"description":{"type":"string","description":"Why it is changed"}},
"required":["path","old_str"],"additionalProperties":false})",
      .effect = EffectClass::once,
      .needs = kWritesFiles,
      .argument = "path",
      .kind = ArgumentKind::path_write,
      .request = request_str_replace,
  };
  return kTool;
}

}  // namespace pawl
