#include "pawl/tools/tool_catalogue.h"

#include <algorithm>

#include "pawl/tools/common/common_tool.h"
#include "pawl/tools/http/http_fetch.h"

namespace pawl {
namespace {

#define PAWL_ROW_OF_TOOL(name) &name##_tool(),
const std::vector<const CommonTool*>& rows() {
  static const std::vector<const CommonTool*> all{PAWL_COMMON_TOOLS(PAWL_ROW_OF_TOOL)};
  return all;
}
#undef PAWL_ROW_OF_TOOL

ToolDescription description_of(const CommonTool& tool, const CommonToolOptions& options) {
  ToolDescription made;
  made.tool = &tool;
  made.needs = tool.needs;
  if (tool.argument != nullptr) made.arguments = {{tool.argument, tool.kind}};
  const bool is_bash = tool.kind == ArgumentKind::command;
  made.spec.name = is_bash ? options.bash_name : tool.name;
  made.spec.description = tool.description;
  made.spec.input_schema = tool.schema;
  std::erase(made.spec.input_schema, '\n');
  made.spec.effect = tool.effect;
  made.spec.on_doubt = tool.needs.person ? OnDoubt::wait : OnDoubt::tell_model;
  made.spec.timeout_ms = tool.needs.subprocess ? options.command_time_ms : options.file_time_ms;
  made.spec.output_bytes_max = options.output_bytes_max;
  return made;
}

Status check_names(const std::vector<std::string>& names, const CommonToolOptions& options) {
  for (const std::string& name : names) {
    if (describe_common_tool(name, options)) continue;
    std::string message = "no common tool is named " + name + "; there are";
    for (const CommonTool* tool : rows()) message += " " + description_of(*tool, options).spec.name;
    return Error{ErrorCode::not_found, message};
  }
  return ok();
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string_view> tool_names() {
  std::vector<std::string_view> names;
  for (const CommonTool* tool : rows()) names.emplace_back(tool->name);
  names.insert(names.end(), kHttpToolNames.begin(), kHttpToolNames.end());
  return names;
}

std::optional<ToolDescription> describe_common_tool(std::string_view name,
                                                    const CommonToolOptions& options) {
  for (const CommonTool* tool : rows()) {
    ToolDescription made = description_of(*tool, options);
    if (made.spec.name == name) return made;
  }
  return std::nullopt;
}

Result<std::vector<ToolDescription>> common_definitions(
    const CommonToolOptions& options, const std::optional<std::vector<std::string>>& only,
    const std::vector<std::string>& except) {
  if (only) PAWL_CHECK(check_names(*only, options));
  PAWL_CHECK(check_names(except, options));
  std::vector<ToolDescription> made;
  for (const CommonTool* tool : rows()) {
    ToolDescription description = description_of(*tool, options);
    if (only && !contains(*only, description.spec.name)) continue;
    if (!contains(except, description.spec.name)) made.push_back(std::move(description));
  }
  return made;
}

}  // namespace pawl
