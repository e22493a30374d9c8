#include "pawl/tools/common/common_tool.h"

namespace pawl {
namespace {

Result<BackendRequest> request_view(const ToolInput& call) {
  ViewRequest request;
  PAWL_TRY(request.path, call.arguments.text("path"));
  if (const Json* const range = call.arguments.find("view_range")) {
    const JsonArray* const ends = range->if_array();
    if (ends == nullptr || ends->size() != 2)
      return wrong_argument("view_range", "two lines are needed");
    const auto first = ends->front().as_int64();
    const auto last = ends->back().as_int64();
    if (!first || !last) return wrong_argument("view_range", "two integers are needed");
    request.range = ViewRange{*first, *last};
  }
  return BackendRequest(std::move(request));
}

}  // namespace

const CommonTool& view_tool() {
  static constexpr CommonTool kTool{
      .name = "view",
      .description =
          "Shows a text file with line numbers, an image's description, or two levels of a "
          "directory.",
      .schema = R"({"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"A file or directory"},
"view_range":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2,
"description":"First and last line, from 1; -1 as the last is the end"},
"description":{"type":"string","description":"Why it is looked at"}},
"required":["path"],"additionalProperties":false})",
      .effect = EffectClass::pure,
      .needs = kReadsFiles,
      .argument = "path",
      .kind = ArgumentKind::path_read,
      .request = request_view,
  };
  return kTool;
}

}  // namespace pawl
