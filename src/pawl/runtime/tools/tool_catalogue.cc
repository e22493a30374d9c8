#include "pawl/runtime/tools/tool_catalogue.h"

#include <algorithm>

#include "pawl/base/json.h"
#include "pawl/base/patch_reader.h"

namespace pawl {
namespace {

struct Row {
  CommonTool tool;
  const char* name;
  const char* description;
  const char* schema;
  EffectClass effect;
  ToolNeeds needs;
  std::vector<ToolArgument> arguments;
};

constexpr ToolNeeds kReads{true, false, false, false, false};
constexpr ToolNeeds kWrites{true, true, false, false, false};
constexpr ToolNeeds kRuns{true, true, true, true, false};
constexpr ToolNeeds kNothing{};
constexpr ToolNeeds kAsks{false, false, false, false, true};

// The names and properties are Conjure's where Conjure has the tool.
constexpr const char* kExecSchema = R"({"type":"object","properties":{
"argv":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":1000,
"description":"The program and its arguments; no shell reads them"},
"input":{"type":"string","description":"Given to the program as standard input"},
"timeout":{"type":"integer","minimum":1,"description":"Milliseconds"},
"description":{"type":"string","description":"Why it is run"}},
"required":["argv"],"additionalProperties":false})";

constexpr const char* kBashSchema = R"({"type":"object","properties":{
"command":{"type":"string","minLength":1,"description":"The bash command"},
"description":{"type":"string","description":"Why it is run"},
"timeout":{"type":"integer","minimum":1,"description":"Milliseconds"}},
"required":["command"],"additionalProperties":false})";

constexpr const char* kViewSchema = R"({"type":"object","properties":{
"path":{"type":"string","minLength":1,"description":"A file or directory"},
"view_range":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2,
"description":"First and last line, from 1; -1 as the last is the end"},
"description":{"type":"string","description":"Why it is looked at"}},
"required":["path"],"additionalProperties":false})";

constexpr const char* kCreateSchema = R"({"type":"object","properties":{
"path":{"type":"string","minLength":1},
"file_text":{"type":"string","description":"All of the file, exactly"},
"overwrite":{"type":"boolean","description":"Replace a file that exists; false unless given"},
"description":{"type":"string","description":"Why it is made"}},
"required":["path","file_text"],"additionalProperties":false})";

constexpr const char* kReplaceSchema = R"({"type":"object","properties":{
"path":{"type":"string","minLength":1},
"old_str":{"type":"string","minLength":1,"description":"Must occur exactly once in the file"},
"new_str":{"type":"string","description":"Nothing unless given: old_str is removed"},
"description":{"type":"string","description":"Why it is changed"}},
"required":["path","old_str"],"additionalProperties":false})";

constexpr const char* kGrepSchema = R"({"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"maxLength":4096,
"description":"A regular expression (RE2), matched line by line"},
"path":{"type":"string","minLength":1,"description":"File or directory; here unless given"},
"include":{"type":"string","description":"Only files that match this glob, such as *.{h,cc}"},
"context":{"type":"integer","minimum":0,"maximum":20,"description":"Lines around each match"},
"ignore_case":{"type":"boolean"}},
"required":["pattern"],"additionalProperties":false})";

constexpr const char* kGlobSchema = R"({"type":"object","properties":{
"pattern":{"type":"string","minLength":1,"maxLength":1000,
"description":"*, ?, [a-z], {a,b}, and ** for any number of directories"},
"path":{"type":"string","minLength":1,"description":"Where to look; here unless given"}},
"required":["pattern"],"additionalProperties":false})";

constexpr const char* kPatchSchema = R"({"type":"object","properties":{
"patch":{"type":"string","minLength":1,
"description":"A unified diff, or *** Begin Patch ... *** End Patch; all or nothing"},
"description":{"type":"string","description":"Why it is changed"}},
"required":["patch"],"additionalProperties":false})";

constexpr const char* kTodoSchema = R"({"type":"object","properties":{
"items":{"type":"array","maxItems":100,"items":{"type":"object","properties":{
"text":{"type":"string","minLength":1,"maxLength":500},
"status":{"enum":["pending","in_progress","done"]}},
"required":["text","status"],"additionalProperties":false},
"description":"The whole list; it replaces the one before"}},
"required":["items"],"additionalProperties":false})";

constexpr const char* kAskSchema = R"({"type":"object","properties":{
"question":{"type":"string","minLength":1,"maxLength":4000},
"options":{"type":"array","maxItems":20,"items":{"type":"string","minLength":1,"maxLength":500},
"description":"Answers to choose from; a free answer unless given"}},
"required":["question"],"additionalProperties":false})";

constexpr const char* kReadOutputSchema = R"({"type":"object","properties":{
"artifact":{"type":"string","minLength":1,"maxLength":255,
"description":"The artifact that a result with truncated output named"},
"offset":{"type":"integer","minimum":0,"description":"Bytes to pass over; 0 unless given"},
"length":{"type":"integer","minimum":1,"description":"Bytes at most"}},
"required":["artifact"],"additionalProperties":false})";

const std::vector<Row>& rows() {
  using enum CommonTool;
  using enum EffectClass;
  static const std::vector<Row> all = {
      {exec,
       "exec",
       "Runs a program with arguments, without a shell. Prefer it to bash for single programs.",
       kExecSchema,
       once,
       kRuns,
       {{"argv", ArgumentKind::argv}}},
      {bash,
       "bash",
       "Runs a command in the session's bash; directory and variables stay for the next call.",
       kBashSchema,
       once,
       kRuns,
       {{"command", ArgumentKind::command}}},
      {view,
       "view",
       "Shows a text file with line numbers, an image's description, or two levels of a directory.",
       kViewSchema,
       pure,
       kReads,
       {{"path", ArgumentKind::path_read}}},
      {create_file,
       "create_file",
       "Makes a file, and the directories on the way to it.",
       kCreateSchema,
       once,
       kWrites,
       {{"path", ArgumentKind::path_write}}},
      {str_replace,
       "str_replace",
       "Replaces a text that occurs exactly once in a file by another.",
       kReplaceSchema,
       once,
       kWrites,
       {{"path", ArgumentKind::path_write}}},
      {grep,
       "grep",
       "Finds lines that match a regular expression: file:line:text.",
       kGrepSchema,
       pure,
       kReads,
       {{"path", ArgumentKind::path_read}}},
      {glob,
       "glob",
       "Finds files by name.",
       kGlobSchema,
       pure,
       kReads,
       {{"path", ArgumentKind::path_read}}},
      {apply_patch,
       "apply_patch",
       "Changes several files at once: all of them, or none.",
       kPatchSchema,
       once,
       kWrites,
       {{"patch", ArgumentKind::patch}}},
      {todo,
       "todo",
       "Keeps the list of what is to be done, and shows it.",
       kTodoSchema,
       pure,
       kNothing,
       {}},
      {ask_user,
       "ask_user",
       "Asks the person who started the run, and waits for the answer.",
       kAskSchema,
       once,
       kAsks,
       {}},
      {read_output,
       "read_output",
       "Reads on in output that was too long to be shown at once.",
       kReadOutputSchema,
       pure,
       kReads,
       {}},
  };
  return all;
}

bool runs_processes(const Row& row) {
  return row.needs.subprocess;
}

ToolDescription description_of(const Row& row, const CommonToolOptions& options) {
  ToolDescription made;
  made.tool = row.tool;
  made.needs = row.needs;
  made.arguments = row.arguments;
  made.spec.name = row.tool == CommonTool::bash ? options.bash_name : row.name;
  made.spec.description = row.description;
  made.spec.input_schema = row.schema;
  made.spec.effect = row.effect;
  made.spec.on_doubt = row.tool == CommonTool::ask_user ? OnDoubt::wait : OnDoubt::tell_model;
  made.spec.timeout_ms = runs_processes(row) ? options.command_time_ms : options.file_time_ms;
  made.spec.output_bytes_max = options.output_bytes_max;
  return made;
}

Status check_names(const std::vector<std::string>& names, const CommonToolOptions& options) {
  for (const std::string& name : names) {
    if (describe_common_tool(name, options)) continue;
    std::string message = "no common tool is named " + name + "; there are";
    for (const Row& row : rows()) message += " " + description_of(row, options).spec.name;
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
  for (const Row& row : rows()) {
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
  for (const Row& row : rows()) {
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
