#include <algorithm>

#include "pawl/tools/common/common_tool.h"

namespace pawl {
namespace {

Result<BackendRequest> request_grep(const ToolInput& call) {
  constexpr std::int64_t kContextMax = 20;
  GrepQuery query;
  PAWL_TRY(query.pattern, call.arguments.text("pattern"));
  PAWL_TRY(query.path, call.arguments.text_or("path", "."));
  PAWL_TRY(query.include, call.arguments.text_or("include", ""));
  PAWL_TRY(const auto context, call.arguments.integer("context", 0));
  query.context_lines = static_cast<std::uint32_t>(std::min(context.value_or(0), kContextMax));
  PAWL_TRY(const bool ignored, call.arguments.flag("ignore_case"));
  query.letter_case = ignored ? GrepQuery::Case::ignored : GrepQuery::Case::sensitive;
  return BackendRequest(FileRequest(std::move(query)));
}

}  // namespace

const CommonTool& grep_tool() {
  static constexpr CommonTool kTool{
      .name = "grep",
      .description = "Finds lines that match a regular expression: file:line:text.",
      .schema = R"({"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"maxLength":4096,
"description":"A regular expression (RE2), matched line by line"},
"path":{"type":"string","minLength":1,"description":"File or directory; here unless given"},
"include":{"type":"string","description":"Only files that match this glob, such as *.{h,cc}"},
"context":{"type":"integer","minimum":0,"maximum":20,"description":"Lines around each match"},
"ignore_case":{"type":"boolean"}},
"required":["pattern"],"additionalProperties":false})",
      .effect = EffectClass::pure,
      .needs = kReadsFiles,
      .argument = "path",
      .kind = ArgumentKind::path_read,
      .request = request_grep,
  };
  return kTool;
}

}  // namespace pawl
