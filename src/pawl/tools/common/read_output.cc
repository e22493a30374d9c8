#include "pawl/tools/common/common_tool.h"

namespace pawl {
namespace {

Result<BackendRequest> request_read_output(const ToolInput& call) {
  OutputPage page;
  PAWL_TRY(page.artifact, call.arguments.text("artifact"));
  PAWL_TRY(const auto offset, call.arguments.integer("offset", 0));
  PAWL_TRY(const auto length, call.arguments.integer("length", 1));
  page.offset = static_cast<std::uint64_t>(offset.value_or(0));
  page.length_max = static_cast<std::uint64_t>(length.value_or(0));
  return BackendRequest(FileRequest(std::move(page)));
}

}  // namespace

const CommonTool& read_output_tool() {
  static constexpr CommonTool kTool{
      .name = "read_output",
      .description = "Reads on in output that was too long to be shown at once.",
      .schema = R"({"type":"object","properties":{
"artifact":{"type":"string","minLength":1,"maxLength":255,
"description":"The artifact that a result with truncated output named"},
"offset":{"type":"integer","minimum":0,"description":"Bytes to pass over; 0 unless given"},
"length":{"type":"integer","minimum":1,"description":"Bytes at most"}},
"required":["artifact"],"additionalProperties":false})",
      .effect = EffectClass::pure,
      .needs = kReadsFiles,
      .request = request_read_output,
  };
  return kTool;
}

}  // namespace pawl
