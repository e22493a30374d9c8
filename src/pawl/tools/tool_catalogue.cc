#include "pawl/tools/tool_catalogue.h"

#include <algorithm>
#include <array>

#include "pawl/base/json.h"
#include "pawl/base/patch_reader.h"
#include "pawl/tools/tool_schemas.h"

namespace pawl {
namespace {

struct Row {
  CommonTool tool;
  const char* name;
  const char* description;
  const char* schema;
  EffectClass effect;
  ToolNeeds needs;
  const char* argument;  // that rules and approvals look at; null where there is none
  ArgumentKind kind;
};

constexpr ToolNeeds kReads{true, false, false, false, false};
constexpr ToolNeeds kWrites{true, true, false, false, false};
constexpr ToolNeeds kRuns{true, true, true, true, false};
constexpr ToolNeeds kNothing{};
constexpr ToolNeeds kAsks{false, false, false, false, true};

constexpr auto kNone = ArgumentKind::path_read;  // of a tool without such an argument

constexpr std::array<Row, 11> kRows = {{
    {CommonTool::exec, "exec",
     "Runs a program with arguments, without a shell. Prefer it to bash for single programs.",
     kExecSchema, EffectClass::once, kRuns, "argv", ArgumentKind::argv},
    {CommonTool::bash, "bash",
     "Runs a command in the session's bash; directory and variables stay for the next call.",
     kBashSchema, EffectClass::once, kRuns, "command", ArgumentKind::command},
    {CommonTool::view, "view",
     "Shows a text file with line numbers, an image's description, or two levels of a directory.",
     kViewSchema, EffectClass::pure, kReads, "path", ArgumentKind::path_read},
    {CommonTool::create_file, "create_file", "Makes a file, and the directories on the way to it.",
     kCreateSchema, EffectClass::once, kWrites, "path", ArgumentKind::path_write},
    {CommonTool::str_replace, "str_replace",
     "Replaces a text that occurs exactly once in a file by another.", kReplaceSchema,
     EffectClass::once, kWrites, "path", ArgumentKind::path_write},
    {CommonTool::grep, "grep", "Finds lines that match a regular expression: file:line:text.",
     kGrepSchema, EffectClass::pure, kReads, "path", ArgumentKind::path_read},
    {CommonTool::glob, "glob", "Finds files by name.", kGlobSchema, EffectClass::pure, kReads,
     "path", ArgumentKind::path_read},
    {CommonTool::apply_patch, "apply_patch", "Changes several files at once: all of them, or none.",
     kPatchSchema, EffectClass::once, kWrites, "patch", ArgumentKind::patch},
    {CommonTool::todo, "todo", "Keeps the list of what is to be done, and shows it.", kTodoSchema,
     EffectClass::pure, kNothing, nullptr, kNone},
    {CommonTool::ask_user, "ask_user",
     "Asks the person who started the run, and waits for the answer.", kAskSchema,
     EffectClass::once, kAsks, nullptr, kNone},
    {CommonTool::read_output, "read_output",
     "Reads on in output that was too long to be shown at once.", kReadOutputSchema,
     EffectClass::pure, kReads, nullptr, kNone},
}};

ToolDescription description_of(const Row& row, const CommonToolOptions& options) {
  ToolDescription made;
  made.tool = row.tool;
  made.needs = row.needs;
  if (row.argument != nullptr) made.arguments = {{row.argument, row.kind}};
  made.spec.name = row.tool == CommonTool::bash ? options.bash_name : row.name;
  made.spec.description = row.description;
  made.spec.input_schema = row.schema;
  std::erase(made.spec.input_schema, '\n');  // they stand between tokens only
  made.spec.effect = row.effect;
  made.spec.on_doubt = row.tool == CommonTool::ask_user ? OnDoubt::wait : OnDoubt::tell_model;
  made.spec.timeout_ms = row.needs.subprocess ? options.command_time_ms : options.file_time_ms;
  made.spec.output_bytes_max = options.output_bytes_max;
  return made;
}

Status check_names(const std::vector<std::string>& names, const CommonToolOptions& options) {
  for (const std::string& name : names) {
    if (describe_common_tool(name, options)) continue;
    std::string message = "no common tool is named " + name + "; there are";
    for (const Row& row : kRows) message += " " + description_of(row, options).spec.name;
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

std::optional<ToolDescription> describe_common_tool(std::string_view name,
                                                    const CommonToolOptions& options) {
  for (const Row& row : kRows) {
    ToolDescription made = description_of(row, options);
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
  for (const Row& row : kRows) {
    ToolDescription description = description_of(row, options);
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
