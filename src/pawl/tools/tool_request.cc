#include "pawl/tools/tool_request.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "pawl/base/json.h"

namespace pawl {
namespace {

Error wrong(std::string_view name, std::string_view what) {
  return {ErrorCode::invalid_argument, std::string(name) + ": " + std::string(what)};
}

class Arguments {
 public:
  explicit Arguments(const Json& input) : input_(input) {}

  Result<std::string> text(std::string_view name) const {
    if (const std::string* value = input_.find_string(name)) return *value;
    return wrong(name, "a string is needed");
  }
  Result<std::string> text_or(std::string_view name, std::string_view otherwise) const {
    return input_.find(name) == nullptr ? Result<std::string>(std::string(otherwise)) : text(name);
  }
  Result<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t least) const {
    const Json* const value = input_.find(name);
    if (value == nullptr) return std::optional<std::int64_t>();
    const auto number = value->as_int64();
    if (!number || *number < least) {
      return wrong(name, "an integer of " + std::to_string(least) + " or more is needed");
    }
    return number;
  }
  Result<bool> flag(std::string_view name) const {
    const Json* const value = input_.find(name);
    if (value == nullptr) return false;
    if (!value->is_boolean()) return wrong(name, "true or false is needed");
    return value->boolean();
  }
  Result<std::vector<std::string>> words(std::string_view name) const {
    const Json* const value = input_.find(name);
    const JsonArray* const list = value == nullptr ? nullptr : value->if_array();
    if (list == nullptr || list->empty()) return wrong(name, "a list of strings is needed");
    std::vector<std::string> words;
    for (const Json& word : *list) {
      if (!word.is_string()) return wrong(name, "a list of strings is needed");
      if (word.string().find('\0') != std::string::npos) return wrong(name, "a NUL is in it");
      words.push_back(word.string());
    }
    return words;
  }
  const Json* find(std::string_view name) const { return input_.find(name); }

 private:
  const Json& input_;
};

Result<ShellCommand> read_command(const ToolSpec& spec, const Arguments& arguments) {
  ShellCommand command;
  PAWL_TRY(const auto time_ms, arguments.integer("timeout", 1));
  command.time_ms = std::min(time_ms.value_or(spec.timeout_ms), spec.timeout_ms);
  return command;
}

// Files that a tool wrote can look like a repository to git, or be a part of its configuration, and
// name programs that a mere `git status` starts.
void disarm_git(ShellCommand& command) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSettings = {
      {{"safe.bareRepository", "explicit"},
       {"core.fsmonitor", "false"},
       {"core.hooksPath", "/dev/null"},
       {"log.showSignature", "false"},
       {"gpg.program", "false"},
       {"gpg.x509.program", "false"},
       {"gpg.ssh.program", "false"}}};
  command.environment["GIT_CONFIG_COUNT"] = std::to_string(kSettings.size());
  for (std::size_t i = 0; i < kSettings.size(); ++i) {
    command.environment["GIT_CONFIG_KEY_" + std::to_string(i)] = kSettings[i].first;
    command.environment["GIT_CONFIG_VALUE_" + std::to_string(i)] = kSettings[i].second;
  }
  command.environment["GIT_CONFIG_GLOBAL"] = "/dev/null";  // HOME is the session's /tmp
  command.environment["GIT_OPTIONAL_LOCKS"] = "0";         // `git status` would write the index
}

// Whatever a person approved is what its text says, and not what an earlier command made of it.
ShellStart shell_start_of(const ToolDescription& tool, std::string_view input, Consent consent) {
  if (consent == Consent::a_person) return ShellStart::fresh;
  return tool.shell_start ? tool.shell_start(input) : ShellStart::session;
}

Result<BackendRequest> read_bash(const ToolDescription& tool, const Arguments& arguments,
                                 ShellStart shell_start) {
  PAWL_TRY(ShellCommand command, read_command(tool.spec, arguments));
  PAWL_TRY(command.command, arguments.text("command"));
  if (command.command.find('\0') != std::string::npos) return wrong("command", "a NUL is in it");
  if (shell_start == ShellStart::session) return BackendRequest(BashRequest{std::move(command)});
  command.argv = {"bash", "--noprofile", "--norc", "-c", std::move(command.command)};
  command.command.clear();
  if (shell_start == ShellStart::unasked) disarm_git(command);
  return BackendRequest(ExecRequest{std::move(command)});
}

Result<BackendRequest> read_exec(const ToolSpec& spec, const Arguments& arguments,
                                 ShellStart shell_start) {
  PAWL_TRY(ShellCommand command, read_command(spec, arguments));
  PAWL_TRY(command.argv, arguments.words("argv"));
  PAWL_TRY(command.input, arguments.text_or("input", ""));
  if (shell_start == ShellStart::unasked) disarm_git(command);
  return BackendRequest(ExecRequest{std::move(command)});
}

Result<BackendRequest> read_view(const Arguments& arguments) {
  ViewRequest request;
  PAWL_TRY(request.path, arguments.text("path"));
  if (const Json* const range = arguments.find("view_range")) {
    const JsonArray* const ends = range->if_array();
    if (ends == nullptr || ends->size() != 2) return wrong("view_range", "two lines are needed");
    const auto first = ends->front().as_int64();
    const auto last = ends->back().as_int64();
    if (!first || !last) return wrong("view_range", "two integers are needed");
    request.range = ViewRange{*first, *last};
  }
  return BackendRequest(std::move(request));
}

Result<BackendRequest> read_create(const Arguments& arguments) {
  FileWrite write;
  PAWL_TRY(write.path, arguments.text("path"));
  PAWL_TRY(write.text, arguments.text("file_text"));
  PAWL_TRY(const bool overwrite, arguments.flag("overwrite"));
  write.overwrite = overwrite ? FileWrite::Overwrite::yes : FileWrite::Overwrite::no;
  return BackendRequest(std::move(write));
}

Result<BackendRequest> read_replace(const Arguments& arguments) {
  StrReplace edit;
  PAWL_TRY(edit.path, arguments.text("path"));
  PAWL_TRY(edit.old_str, arguments.text("old_str"));
  PAWL_TRY(edit.new_str, arguments.text_or("new_str", ""));
  return BackendRequest(std::move(edit));
}

Result<BackendRequest> read_grep(const Arguments& arguments) {
  constexpr std::int64_t kContextMax = 20;
  GrepQuery query;
  PAWL_TRY(query.pattern, arguments.text("pattern"));
  PAWL_TRY(query.path, arguments.text_or("path", "."));
  PAWL_TRY(query.include, arguments.text_or("include", ""));
  PAWL_TRY(const auto context, arguments.integer("context", 0));
  query.context_lines = static_cast<std::uint32_t>(std::min(context.value_or(0), kContextMax));
  PAWL_TRY(const bool ignored, arguments.flag("ignore_case"));
  query.letter_case = ignored ? GrepQuery::Case::ignored : GrepQuery::Case::sensitive;
  return BackendRequest(FileRequest(std::move(query)));
}

Result<BackendRequest> read_glob(const Arguments& arguments) {
  GlobQuery query;
  PAWL_TRY(query.pattern, arguments.text("pattern"));
  PAWL_TRY(query.path, arguments.text_or("path", "."));
  return BackendRequest(FileRequest(std::move(query)));
}

Result<BackendRequest> read_apply_patch(const Arguments& arguments) {
  PAWL_TRY(std::string text, arguments.text("patch"));
  return BackendRequest(FileRequest(PatchText{std::move(text)}));
}

Result<BackendRequest> read_page(const Arguments& arguments) {
  OutputPage page;
  PAWL_TRY(page.artifact, arguments.text("artifact"));
  PAWL_TRY(const auto offset, arguments.integer("offset", 0));
  PAWL_TRY(const auto length, arguments.integer("length", 1));
  page.offset = static_cast<std::uint64_t>(offset.value_or(0));
  page.length_max = static_cast<std::uint64_t>(length.value_or(0));
  return BackendRequest(FileRequest(std::move(page)));
}

}  // namespace

Result<BackendRequest> read_request(const ToolDescription& tool, std::string_view input,
                                    Consent consent) {
  PAWL_TRY(const Json parsed, parse_json(input));
  const Arguments arguments(parsed);
  switch (tool.tool) {
    case CommonTool::exec:
      return read_exec(tool.spec, arguments, shell_start_of(tool, input, consent));
    case CommonTool::bash:
      return read_bash(tool, arguments, shell_start_of(tool, input, consent));
    case CommonTool::view:
      return read_view(arguments);
    case CommonTool::create_file:
      return read_create(arguments);
    case CommonTool::str_replace:
      return read_replace(arguments);
    case CommonTool::grep:
      return read_grep(arguments);
    case CommonTool::glob:
      return read_glob(arguments);
    case CommonTool::apply_patch:
      return read_apply_patch(arguments);
    case CommonTool::read_output:
      return read_page(arguments);
    case CommonTool::todo:
    case CommonTool::ask_user:
      break;
  }
  return Error{ErrorCode::invalid_argument, tool.spec.name + " does not run in a session"};
}

std::unique_ptr<Operation> start_request(BackendSession& session, BackendRequest request,
                                         BackendSession::Done done) {
  struct Start {
    BackendSession& session;
    BackendSession::Done done;

    std::unique_ptr<Operation> operator()(BashRequest& bash) {
      return session.bash(std::move(bash.command), std::move(done));
    }
    std::unique_ptr<Operation> operator()(ExecRequest& exec) {
      return session.exec(std::move(exec.command), std::move(done));
    }
    std::unique_ptr<Operation> operator()(ViewRequest& view) {
      return session.view(std::move(view.path), view.range, std::move(done));
    }
    std::unique_ptr<Operation> operator()(FileWrite& write) {
      return session.create_file(std::move(write), std::move(done));
    }
    std::unique_ptr<Operation> operator()(StrReplace& edit) {
      return session.str_replace(std::move(edit), std::move(done));
    }
    std::unique_ptr<Operation> operator()(FileRequest& file) {
      return session.file_request(std::move(file), std::move(done));
    }
  };
  return std::visit(Start{session, std::move(done)}, request);
}

}  // namespace pawl
