#include "pawl/tools/common_tools.h"

#include <algorithm>

#include "pawl/base/thrown.h"
#include "pawl/base/utf8.h"
#include "pawl/json.h"
#include "pawl/tools/common/common_tool.h"

namespace pawl {
namespace {

// A session stops its commands by itself; this much later the call stops them.
constexpr std::int64_t kGraceMs = 2'000;

// Null: the session has no such tool.
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

// One call: first it waits for its session, then for its operation there. Shared with the callbacks
// of both, which hold it weakly: a call that is destroyed hears nothing any more.
class CommonCall : public std::enable_shared_from_this<CommonCall> {
 public:
  CommonCall(Loop& loop, std::shared_ptr<const ToolDescription> tool,
             std::function<void(ToolOutcome)> done)
      : loop_(loop), tool_(std::move(tool)), done_(std::move(done)) {}

  void begin(const ToolInvocation& invocation, const BackendSessions& sessions) {
    auto request = read_request(*tool_, invocation.input, invocation.consent);
    if (!request) return refuse(ToolOutcome::Kind::failed, request.error().message);
    guard_ = loop_.after(tool_->spec.timeout_ms + kGraceMs, [weak = weak_from_this()] {
      if (const auto call = weak.lock()) call->stop(ToolOutcome::Kind::timed_out);
    });
    const auto shared = std::make_shared<BackendRequest>(*std::move(request));
    try {
      sessions(invocation, [weak = weak_from_this(), shared](auto session) {
        if (const auto call = weak.lock()) call->on_session(std::move(session), shared);
      });
    } catch (...) {  // The host's own function threw: nothing has run.
      refuse(ToolOutcome::Kind::failed, "no session: " + what_was_thrown());
    }
  }

  void stop(ToolOutcome::Kind why) {
    if (!done_) return;
    if (stopped_ == Stopped::no) {
      stopped_ = why == ToolOutcome::Kind::timed_out ? Stopped::timed_out : Stopped::aborted;
    }
    if (operation_) return operation_->abort();  // it answers when nothing is left of it
    // Nothing has run, which is known: not the doubt that a timeout means elsewhere.
    refuse(why == ToolOutcome::Kind::timed_out ? ToolOutcome::Kind::failed : why,
           "stopped before it had begun: its session was not ready");
  }

 private:
  enum class Stopped : std::uint8_t { no, timed_out, aborted };

  // Never from inside begin(): a caller has its operation before it has its answer.
  void refuse(ToolOutcome::Kind kind, std::string_view why) {
    loop_.post([weak = weak_from_this(), outcome = refused_call(kind, why, *tool_)] {
      if (const auto call = weak.lock()) call->tell(outcome);
    });
  }

  void on_session(Result<std::shared_ptr<BackendSession>> session,
                  const std::shared_ptr<BackendRequest>& request) {
    if (!done_ || stopped_ != Stopped::no || session_) return;
    if (!session) return refuse(ToolOutcome::Kind::failed, session.error().message);
    session_ = *std::move(session);
    operation_ = start_request(*session_, std::move(*request),
                               [weak = weak_from_this()](const BackendOutcome& outcome) {
                                 if (const auto call = weak.lock()) call->on_outcome(outcome);
                               });
    if (!operation_) {
      refuse(ToolOutcome::Kind::failed, "this run's backend has no " + tool_->spec.name);
    }
  }

  void on_outcome(const BackendOutcome& outcome) {
    ToolOutcome made = tool_outcome(outcome, *tool_);
    // It was the call's own clock that stopped it.
    if (stopped_ == Stopped::timed_out && made.kind == ToolOutcome::Kind::aborted) {
      made.kind = ToolOutcome::Kind::timed_out;
    }
    tell(std::move(made));
  }

  void tell(ToolOutcome outcome) {
    if (!done_) return;
    guard_.reset();
    // The operation may be inside its own callback: it goes when the loop comes round.
    loop_.post([keep = std::shared_ptr<Operation>(std::move(operation_)), session = session_] {});
    std::exchange(done_, {})(std::move(outcome));
  }

  Loop& loop_;
  const std::shared_ptr<const ToolDescription> tool_;
  std::function<void(ToolOutcome)> done_;
  std::unique_ptr<Timer> guard_;
  std::shared_ptr<BackendSession> session_;
  std::unique_ptr<Operation> operation_;
  Stopped stopped_ = Stopped::no;
};

class CallOperation : public Operation {
 public:
  explicit CallOperation(std::shared_ptr<CommonCall> call) : call_(std::move(call)) {}
  void abort() override { call_->stop(ToolOutcome::Kind::aborted); }

 private:
  std::shared_ptr<CommonCall> call_;
};

class SessionTool : public Tool {
 public:
  SessionTool(const ToolDescription& description, Loop& loop, BackendSessions sessions)
      : description_(std::make_shared<const ToolDescription>(description)),
        loop_(loop),
        sessions_(std::move(sessions)) {}

  const ToolSpec& spec() const override { return description_->spec; }

  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    auto call = std::make_shared<CommonCall>(loop_, description_, std::move(done));
    call->begin(invocation, sessions_);
    return std::make_unique<CallOperation>(std::move(call));
  }

  std::unique_ptr<Operation> status(const ToolInvocation& /*invocation*/,
                                    std::function<void(ToolStatus)> done) override {
    return answer_later(loop_, std::move(done),
                        ToolStatus{ToolStatus::Kind::unknown, "a session keeps no keys"});
  }

 private:
  const std::shared_ptr<const ToolDescription> description_;
  Loop& loop_;
  const BackendSessions sessions_;
};

}  // namespace

Result<BackendRequest> read_request(const ToolDescription& tool, std::string_view input,
                                    Consent consent) {
  if (tool.tool->request == nullptr) {
    return Error{ErrorCode::invalid_argument, tool.spec.name + " does not run in a session"};
  }
  PAWL_TRY(const Json parsed, parse_json(input));
  return tool.tool->request({tool, input, ToolArguments(parsed), consent});
}

// --- Results ------------------------------------------------------------------------------------

namespace {

using Kind = BackendOutcome::Kind;

// A session names its artifacts by path; the model knows them by the last part.
std::string artifact_id(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

void write_files(JsonWriter& writer, const std::vector<FileRef>& files, std::size_t shown) {
  writer.key("files").begin_array();
  for (std::size_t i = 0; i < std::min(shown, files.size()); ++i) {
    writer.begin_object()
        .field("path", files[i].path)
        .field("size", files[i].size)
        .field("sha256", to_hex(files[i].sha256))
        .end_object();
  }
  writer.end_array();
  if (files.size() > shown) writer.field("files_left_out", files.size() - shown);
}

struct Shown {
  std::string_view output;
  std::size_t files = kFilesShownMax;
};

std::string render(const BackendOutcome& outcome, const ToolDescription& tool, const Shown& shown) {
  JsonWriter writer;
  writer.begin_object().field("ok", outcome.kind == Kind::ok);
  if (outcome.kind != Kind::ok && outcome.kind != Kind::failed) {
    writer.field("error", name(outcome.kind));
  }
  if (outcome.exit_code) writer.field("exit_code", *outcome.exit_code);
  writer.field("output", shown.output);
  const bool cut =
      shown.output.size() < outcome.output.size() || outcome.output_length > outcome.output.size();
  if (cut) {
    writer.field("truncated", true).field("output_length", outcome.output_length);
    if (!outcome.artifact.empty()) writer.field("artifact", artifact_id(outcome.artifact));
  }
  write_files(writer, outcome.files, shown.files);
  if (tool.needs.subprocess) writer.field("level", name(outcome.level));
  writer.end_object();
  return writer.take();
}

std::string_view cut_utf8(std::string_view valid, std::size_t bytes) {
  if (valid.size() <= bytes) return valid;
  while (bytes > 0 && (static_cast<unsigned char>(valid[bytes]) & 0xC0U) == 0x80U) --bytes;
  return valid.substr(0, bytes);
}

}  // namespace

ToolOutcome::Kind tool_kind(BackendOutcome::Kind kind, ToolOutcome::Kind at_bound) {
  switch (kind) {
    case Kind::ok:
      return ToolOutcome::Kind::succeeded;
    case Kind::timed_out:
      return ToolOutcome::Kind::timed_out;
    case Kind::aborted:
    case Kind::killed:
      return ToolOutcome::Kind::aborted;
    case Kind::memory:
    case Kind::cpu:
    case Kind::processes:
    case Kind::disk:
      return at_bound;
    case Kind::failed:
    case Kind::denied:
      break;
  }
  return ToolOutcome::Kind::failed;
}

// A command that ran and returned has answered, whatever its exit code says: a search without a
// match, a test that fails. The model reads the code; no guard counts it as an error of the tool.
static bool has_answered(const BackendOutcome& outcome) {
  return outcome.kind == BackendOutcome::Kind::failed && outcome.exit_code.has_value();
}

ToolOutcome tool_outcome(const BackendOutcome& outcome, const ToolDescription& tool) {
  const auto bytes_max = static_cast<std::size_t>(tool.spec.output_bytes_max);
  // Ended by a bound: the model is told by which, and can look what is there.
  ToolOutcome made{has_answered(outcome) ? ToolOutcome::Kind::succeeded
                                         : tool_kind(outcome.kind, ToolOutcome::Kind::failed),
                   render(outcome, tool, {outcome.output, kFilesShownMax}), 0};
  made.content_length = std::max<std::uint64_t>(made.content.size(), outcome.output_length);
  if (tool.needs.subprocess) made.level = name(outcome.level);
  if (made.content.size() <= bytes_max) return made;
  Shown shown{{}, kFilesShownMax};
  if (render(outcome, tool, shown).size() > bytes_max) shown.files = 0;
  // Escapes make it longer than its bytes, by how much depends on them: the longest start that fits
  // is searched for.
  std::size_t fits = 0;
  std::size_t over = outcome.output.size() + 1;
  while (fits + 1 < over) {
    const std::size_t middle = fits + (over - fits) / 2;
    shown.output = cut_utf8(outcome.output, middle);
    (render(outcome, tool, shown).size() <= bytes_max ? fits : over) = middle;
  }
  shown.output = cut_utf8(outcome.output, fits);
  made.content = render(outcome, tool, shown);
  // A bound below the smallest result: nothing is better than half a JSON text.
  if (made.content.size() > bytes_max) made.content.clear();
  return made;
}

ToolOutcome refused_call(ToolOutcome::Kind kind, std::string_view why,
                         const ToolDescription& tool) {
  BackendOutcome outcome;
  outcome.kind = kind == ToolOutcome::Kind::timed_out ? Kind::timed_out
                 : kind == ToolOutcome::Kind::aborted ? Kind::aborted
                                                      : Kind::failed;
  outcome.output = to_valid_utf8(why);
  outcome.output_length = outcome.output.size();
  ToolDescription plain = tool;
  plain.needs.subprocess = false;  // none ran, so there is no level to speak of
  return tool_outcome(outcome, plain);
}

Result<std::shared_ptr<Tool>> make_common_tool(const ToolDescription& description, Loop& loop,
                                               BackendSessions sessions) {
  if (description.tool->make != nullptr) return description.tool->make(description.spec, loop);
  if (description.tool->request == nullptr) {
    return Error{ErrorCode::invalid_argument,
                 description.spec.name + " is answered by a person, it cannot be executed"};
  }
  return std::shared_ptr<Tool>(
      std::make_shared<SessionTool>(description, loop, std::move(sessions)));
}

std::vector<std::shared_ptr<Tool>> make_common_tools(
    const std::vector<ToolDescription>& descriptions, Loop& loop, const BackendSessions& sessions) {
  std::vector<std::shared_ptr<Tool>> tools;
  for (const ToolDescription& description : descriptions) {
    auto tool = make_common_tool(description, loop, sessions);
    if (tool) tools.push_back(*std::move(tool));
  }
  return tools;
}

}  // namespace pawl
