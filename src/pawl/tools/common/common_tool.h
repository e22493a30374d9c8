// The tools that Pawl brings, a file each in this folder: what the model is told of the tool, what
// it may do, and how a call of it becomes a request to its session. A new tool is a file here and a
// row of PAWL_COMMON_TOOLS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/backend.h"
#include "pawl/json.h"
#include "pawl/tool.h"
#include "pawl/tools/tool_catalogue.h"

// In the order in which they are listed.
// clang-format off: one tool a line
#define PAWL_COMMON_TOOLS(row) \
  row(exec) \
  row(bash) \
  row(view) \
  row(create_file) \
  row(str_replace) \
  row(grep) \
  row(glob) \
  row(apply_patch) \
  row(todo) \
  row(ask_user) \
  row(read_output)
// clang-format on

namespace pawl {

// Reads the arguments of a call, which are valid for the tool's schema, but are not trusted to be.
class ToolArguments {
 public:
  explicit ToolArguments(const Json& input) : input_(input) {}

  Result<std::string> text(std::string_view name) const;
  Result<std::string> text_or(std::string_view name, std::string_view otherwise) const;
  Result<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t least) const;
  Result<bool> flag(std::string_view name) const;
  Result<std::vector<std::string>> words(std::string_view name) const;
  const Json* find(std::string_view name) const { return input_.find(name); }

 private:
  const Json& input_;
};

// NAME: WHAT is wrong with the argument.
Error wrong_argument(std::string_view name, std::string_view what);

struct ToolInput {
  const ToolDescription& tool;
  std::string_view text;
  const ToolArguments& arguments;
  Consent consent = Consent::policy;
};

struct BashRequest {
  ShellCommand command;
};
struct ExecRequest {
  ShellCommand command;
};
struct ViewRequest {
  std::string path;
  std::optional<ViewRange> range;
};

// What a call asks of its session: one of the session's operations.
using BackendRequest =
    std::variant<BashRequest, ExecRequest, ViewRequest, FileWrite, StrReplace, FileRequest>;

inline constexpr ToolNeeds kReadsFiles{.fs_read = true};
inline constexpr ToolNeeds kWritesFiles{.fs_read = true, .fs_write = true};
inline constexpr ToolNeeds kRunsPrograms{
    .fs_read = true, .fs_write = true, .subprocess = true, .network = true};

struct CommonTool {
  const char* name;
  const char* description;
  const char* schema;  // line breaks stand between tokens only
  EffectClass effect = EffectClass::once;
  ToolNeeds needs = {};
  const char* argument = nullptr;  // that rules and approvals look at
  ArgumentKind kind = ArgumentKind::path_read;
  // What a call asks its session for. Null: no session runs the tool.
  Result<BackendRequest> (*request)(const ToolInput& call) = nullptr;
  // Makes a tool that runs without a session.
  std::shared_ptr<Tool> (*make)(const ToolSpec& spec, Loop& loop) = nullptr;
};

// `input` is valid for the tool's schema, but is not trusted to be.
Result<BackendRequest> read_request(const ToolDescription& tool, std::string_view input,
                                    Consent consent = Consent::policy);

#define PAWL_DECLARE_TOOL(name) const CommonTool& name##_tool();
PAWL_COMMON_TOOLS(PAWL_DECLARE_TOOL)
#undef PAWL_DECLARE_TOOL

// An operation that answers when the loop comes round, unless it is destroyed before.
template <class Answer>
std::unique_ptr<Operation> answer_later(Loop& loop, std::function<void(Answer)> done,
                                        Answer answer) {
  class Later : public Operation {
   public:
    explicit Later(std::shared_ptr<std::function<void(Answer)>> waiting)
        : waiting_(std::move(waiting)) {}
    ~Later() override { *waiting_ = {}; }
    void abort() override {}  // the answer is on its way

   private:
    std::shared_ptr<std::function<void(Answer)>> waiting_;
  };
  auto waiting = std::make_shared<std::function<void(Answer)>>(std::move(done));
  loop.post([waiting, answer = std::move(answer)] {
    if (auto tell = std::exchange(*waiting, {})) tell(answer);
  });
  return std::make_unique<Later>(std::move(waiting));
}

}  // namespace pawl
