#include "pawl/tools/calls/call_egress.h"

#include <utility>

#include "pawl/base/utf8.h"

namespace pawl {
namespace {

std::string_view word_of(EgressEvent::Verdict verdict) {
  switch (verdict) {
    case EgressEvent::Verdict::allowed:
      return "allowed";
    case EgressEvent::Verdict::refused:
      return "refused";
    case EgressEvent::Verdict::unresolved:
      break;
  }
  return "unresolved";
}

EgressNote note_of(const EgressEvent& event) {
  return {to_valid_utf8(event.target.substr(0, kEgressDetailBytesMax)),
          std::string(word_of(event.verdict)),
          to_valid_utf8(event.detail.substr(0, kEgressDetailBytesMax))};
}

class SessionEgressTool final : public Tool {
 public:
  SessionEgressTool(std::shared_ptr<Tool> tool, std::shared_ptr<RunEgressNotes> notes)
      : tool_(std::move(tool)), notes_(std::move(notes)) {}
  const ToolSpec& spec() const override { return tool_->spec(); }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    return tool_->invoke(invocation, [notes = notes_, done = std::move(done),
                                      run = invocation.run](ToolOutcome outcome) {
      outcome.egress = notes->take(run);
      done(std::move(outcome));
    });
  }
  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    return tool_->status(invocation, std::move(done));
  }

 private:
  const std::shared_ptr<Tool> tool_;
  const std::shared_ptr<RunEgressNotes> notes_;
};

// The operation goes before the tool that it is of.
class CallEgress final : public Operation {
 public:
  CallEgress(std::shared_ptr<Tool> tool, std::unique_ptr<Operation> operation)
      : tool_(std::move(tool)), operation_(std::move(operation)) {}
  void abort() override { operation_->abort(); }

 private:
  std::shared_ptr<Tool> tool_;
  std::unique_ptr<Operation> operation_;
};

class CallEgressTool final : public Tool {
 public:
  explicit CallEgressTool(MakeGuardedTool make) : make_(std::move(make)), model_(make_({})) {}
  const ToolSpec& spec() const override { return model_->spec(); }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    const auto notes = std::make_shared<EgressNotes>();
    auto tool = make_([notes](const EgressEvent& event) { notes->add(event); });
    auto operation = tool->invoke(invocation, [notes, done = std::move(done)](ToolOutcome outcome) {
      outcome.egress = notes->take();
      done(std::move(outcome));
    });
    return std::make_unique<CallEgress>(std::move(tool), std::move(operation));
  }
  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    return model_->status(invocation, std::move(done));
  }

 private:
  const MakeGuardedTool make_;
  const std::shared_ptr<Tool> model_;
};

}  // namespace

void EgressNotes::add(const EgressEvent& event) {
  if (notes_.size() == kEgressNotesMax) {
    ++left_out_;
  } else {
    notes_.push_back(event);
  }
}

EgressReport EgressNotes::take() {
  EgressReport report;
  for (const EgressEvent& note : std::exchange(notes_, {})) report.notes.push_back(note_of(note));
  report.left_out = std::exchange(left_out_, 0);
  return report;
}

void RunEgressNotes::add(const EgressEvent& event) {
  const auto found = runs_.find(event.client);
  if (found != runs_.end()) return found->second.add(event);
  if (runs_.size() < kEgressRunsMax) runs_[event.client].add(event);
}

EgressReport RunEgressNotes::take(const RunId& run) {
  const auto found = runs_.find(run.text);
  if (found == runs_.end()) return {};
  EgressReport notes = found->second.take();
  runs_.erase(found);
  return notes;
}

std::shared_ptr<Tool> with_session_egress(std::shared_ptr<Tool> tool,
                                          std::shared_ptr<RunEgressNotes> notes) {
  return std::make_shared<SessionEgressTool>(std::move(tool), std::move(notes));
}

std::shared_ptr<Tool> with_call_egress(MakeGuardedTool make) {
  return std::make_shared<CallEgressTool>(std::move(make));
}

}  // namespace pawl
