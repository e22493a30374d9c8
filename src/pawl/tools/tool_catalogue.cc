#include "pawl/tools/tool_catalogue.h"

#include <algorithm>

#include "pawl/base/json.h"
#include "pawl/base/patch_reader.h"
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

Status append_patch(std::vector<ToolTouch>& found, const Json& text) {
  if (!text.is_string()) return Error{ErrorCode::invalid_argument, "patch: not a string"};
  PAWL_TRY(const auto files, read_patch(text.string()));
  for (const FilePatch& file : files) {
    found.push_back({ArgumentKind::path_write, file.path, {}});
    if (file.move_to) found.push_back({ArgumentKind::path_write, *file.move_to, {}});
  }
  return ok();
}

Result<ToolTouch> touch_of(const ToolArgument& argument, const Json& value) {
  ToolTouch touch{argument.kind, {}, {}};
  if (argument.kind == ArgumentKind::argv) {
    if (!value.is_array()) return Error{ErrorCode::invalid_argument, argument.name + ": no list"};
    for (const Json& word : value.array()) {
      if (!word.is_string()) {
        return Error{ErrorCode::invalid_argument, argument.name + ": not a list of strings"};
      }
      touch.words.push_back(word.string());
    }
    return touch;
  }
  if (!value.is_string()) {
    return Error{ErrorCode::invalid_argument, argument.name + ": not a string"};
  }
  touch.text = value.string();
  return touch;
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

Result<std::vector<ToolTouch>> touches(const ToolDescription& tool, std::string_view input) {
  PAWL_TRY(const Json parsed, parse_json(input));
  if (!parsed.is_object()) return Error{ErrorCode::invalid_argument, "the input is no object"};
  std::vector<ToolTouch> found;
  for (const ToolArgument& argument : tool.arguments) {
    const Json* const value = parsed.find(argument.name);
    if (value == nullptr) {
      // Only grep and glob may leave it out, and then look at the working directory.
      if (argument.kind != ArgumentKind::path_read) {
        return Error{ErrorCode::invalid_argument, argument.name + ": missing"};
      }
      found.push_back({argument.kind, ".", {}});
    } else if (argument.kind == ArgumentKind::patch) {
      PAWL_CHECK(append_patch(found, *value));
    } else {
      PAWL_TRY(ToolTouch touch, touch_of(argument, *value));
      found.push_back(std::move(touch));
    }
  }
  return found;
}

}  // namespace pawl
