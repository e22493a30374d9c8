#include "pawl/tools/common/common_tool.h"

namespace pawl {
namespace {

Result<BackendRequest> request_create_file(const ToolInput& call) {
  FileWrite write;
  PAWL_TRY(write.path, call.arguments.text("path"));
  PAWL_TRY(write.text, call.arguments.text("file_text"));
  PAWL_TRY(const bool overwrite, call.arguments.flag("overwrite"));
  write.overwrite = overwrite ? FileWrite::Overwrite::yes : FileWrite::Overwrite::no;
  return BackendRequest(std::move(write));
}

}  // namespace

const CommonTool& create_file_tool() {
  static constexpr CommonTool kTool{
      .name = "create_file",
      .description = "Makes a file, and the directories on the way to it.",
      .schema = R"({"type":"object","properties":{
"path":{"type":"string","minLength":1},
"file_text":{"type":"string","description":"All of the file, exactly"},
"overwrite":{"type":"boolean","description":"Replace a file that exists; false unless given"},
"description":{"type":"string","description":"Why it is made"}},
"required":["path","file_text"],"additionalProperties":false})",
      .effect = EffectClass::once,
      .needs = kWritesFiles,
      .argument = "path",
      .kind = ArgumentKind::path_write,
      .request = request_create_file,
  };
  return kTool;
}

}  // namespace pawl
