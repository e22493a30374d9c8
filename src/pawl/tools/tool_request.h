// A call of a common tool as the session's operation that it stands for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pawl/port/backend.h"
#include "pawl/port/tool.h"
#include "pawl/tools/tool_catalogue.h"

namespace pawl {

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

using BackendRequest =
    std::variant<BashRequest, ExecRequest, ViewRequest, FileWrite, StrReplace, FileRequest>;

// `input` is valid for the tool's schema, but is not trusted to be. Commands get at most the tool's
// own time.
Result<BackendRequest> read_request(const ToolDescription& tool, std::string_view input,
                                    Consent consent = Consent::policy);

// Null: the session has no such tool.
std::unique_ptr<Operation> start_request(BackendSession& session, BackendRequest request,
                                         BackendSession::Done done);

}  // namespace pawl
