#include "pawl/tools/native_tool.h"

#include "pawl/base/thrown.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

// Shared by the operation, its timer and the thread: whoever comes first tells the outcome. Only
// the loop thread touches `done`.
template <class Outcome>
struct Shared {
  std::function<void(Outcome)> done;

  void tell(Outcome outcome) {
    if (!done) return;
    std::exchange(done, {})(std::move(outcome));
  }
};

template <class Outcome>
class NativeOperation : public Operation {
 public:
  NativeOperation(Loop& loop, std::shared_ptr<Shared<Outcome>> shared, std::int64_t timeout_ms,
                  Outcome at_timeout, Outcome at_abort)
      : loop_(loop), shared_(std::move(shared)), at_abort_(std::move(at_abort)) {
    timer_ = loop.after(timeout_ms, [shared = shared_, at_timeout = std::move(at_timeout)] {
      shared->tell(at_timeout);
    });
  }
  ~NativeOperation() override { shared_->done = {}; }

  void abort() override {
    loop_.post([shared = shared_, outcome = at_abort_] { shared->tell(outcome); });
  }

 private:
  Loop& loop_;
  std::shared_ptr<Shared<Outcome>> shared_;
  Outcome at_abort_;
  std::unique_ptr<Timer> timer_;
};

class NativeAdapter : public Tool {
 public:
  NativeAdapter(NativeTool tool, Loop& loop, std::shared_ptr<WorkerPool> pool)
      : tool_(std::make_shared<const NativeTool>(std::move(tool))),
        loop_(loop),
        pool_(std::move(pool)) {}

  const ToolSpec& spec() const override { return tool_->spec; }

  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    return start<ToolOutcome>(
        std::move(done), [tool = tool_, invocation] { return run(*tool, invocation); },
        {ToolOutcome::Kind::timed_out, timeout_text(), 0},
        {ToolOutcome::Kind::aborted, "stopped before it had ended", 0},
        {ToolOutcome::Kind::failed, "not run: too many tools wait for a thread", 0});
  }

  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    const ToolStatus unknown{ToolStatus::Kind::unknown, "its status function did not answer"};
    return start<ToolStatus>(
        std::move(done), [tool = tool_, invocation] { return ask(*tool, invocation); }, unknown,
        unknown, unknown);
  }

 private:
  std::string timeout_text() const {
    return "timed out after " + std::to_string(tool_->spec.timeout_ms) + " ms";
  }

  static Result<SplitReply> reply_of(const NativeTool& tool, const ToolInvocation& invocation) {
    if (tool.split) return tool.split(invocation);
    PAWL_TRY(std::string content, tool.run(invocation));
    return SplitReply{std::move(content), {}};
  }

  static ToolOutcome run(const NativeTool& tool, const ToolInvocation& invocation) {
    ToolOutcome outcome;
    std::string text;
    try {
      Result<SplitReply> result = reply_of(tool, invocation);
      outcome.kind = result ? ToolOutcome::Kind::succeeded : ToolOutcome::Kind::failed;
      text = result ? result->content : result.error().message;
      if (result && tool.split) {
        outcome.user_reply = cut_output(result->user_reply, tool.spec.output_bytes_max);
      }
    } catch (...) {  // A tool of the host's may throw; that is a known failure.
      text = "the tool threw: " + what_was_thrown();
    }
    outcome.content_length = text.size();
    outcome.content = cut_output(text, tool.spec.output_bytes_max);
    return outcome;
  }

  static ToolStatus ask(const NativeTool& tool, const ToolInvocation& invocation) {
    try {
      return tool.status(invocation);
    } catch (...) {  // Failing to find out is not knowing.
      return {ToolStatus::Kind::unknown, "asking threw: " + what_was_thrown()};
    }
  }

  template <class Outcome, class Work>
  std::unique_ptr<Operation> start(std::function<void(Outcome)> done, Work work, Outcome at_timeout,
                                   Outcome at_abort, Outcome at_refusal) {
    auto shared = std::make_shared<Shared<Outcome>>();
    shared->done = std::move(done);
    auto operation = std::make_unique<NativeOperation<Outcome>>(
        loop_, shared, tool_->spec.timeout_ms, std::move(at_timeout), std::move(at_abort));
    Loop& loop = loop_;
    const bool taken = pool_->submit([&loop, shared, work] {
      loop.post([shared, outcome = work()] { shared->tell(outcome); });
    });
    if (!taken) loop.post([shared, outcome = std::move(at_refusal)] { shared->tell(outcome); });
    return operation;
  }

  std::shared_ptr<const NativeTool> tool_;
  Loop& loop_;
  std::shared_ptr<WorkerPool> pool_;
};

}  // namespace

std::string cut_output(const std::string& text, std::size_t bytes_max) {
  std::string valid = to_valid_utf8(text);
  if (valid.size() <= bytes_max) return valid;
  const std::string mark =
      "\n[… " + std::to_string(text.size()) + " bytes in all; the rest was cut …]";
  if (mark.size() >= bytes_max) return mark.substr(0, 0);
  std::size_t keep = bytes_max - mark.size();
  // Not in the middle of a character.
  while (keep > 0 && (static_cast<unsigned char>(valid[keep]) & 0xC0U) == 0x80U) --keep;
  return valid.substr(0, keep) + mark;
}

Result<std::shared_ptr<Tool>> make_native_tool(NativeTool tool, Loop& loop,
                                               std::shared_ptr<WorkerPool> pool) {
  const bool reconcilable = tool.spec.effect == EffectClass::reconcilable;
  const bool one_function = static_cast<bool>(tool.run) != static_cast<bool>(tool.split);
  if (!one_function || reconcilable != static_cast<bool>(tool.status)) {
    return Error{
        ErrorCode::invalid_argument,
        "tool " + tool.spec.name +
            ": it needs a function (`run` or `split`), and a status function exactly when it is "
            "reconcilable"};
  }
  return std::shared_ptr<Tool>(
      std::make_shared<NativeAdapter>(std::move(tool), loop, std::move(pool)));
}

}  // namespace pawl
