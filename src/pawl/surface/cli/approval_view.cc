#include "pawl/surface/cli/approval_view.h"

#include "pawl/gate/approvals/approval_render.h"
#include "pawl/json.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

std::string place_of(const PendingApproval& pending) {
  return pending.project.empty() ? "" : "the project " + pending.project;
}

ApprovalSubject subject_of(const PendingApproval& pending) {
  ApprovalSubject subject;
  subject.tool = pending.tool;
  subject.input = pending.input;
  subject.reason = pending.reason;
  subject.prose = pending.prose;
  subject.place = place_of(pending);
  return subject;
}

}  // namespace

ApprovalCard card_of(const PendingApproval& pending) {
  ApprovalView view = render_approval(subject_of(pending));
  return {std::move(view.text), view.needs_expansion, view.digest};
}

ApprovalCard card_of_plan(const std::vector<PendingApproval>& pending) {
  Plan plan;
  for (const PendingApproval& one : pending) plan.steps.push_back({one.tool, one.input, one.prose});
  const PendingApproval first = pending.empty() ? PendingApproval{} : pending.front();
  ApprovalView view = render_plan(plan, first.reason, place_of(first));
  return {std::move(view.text), view.needs_expansion, view.digest};
}

std::string full_text(const PendingApproval& pending) {
  const ApprovalSubject subject = subject_of(pending);
  const ApprovalView view = render_approval(subject);
  std::string text = view.text;
  for (std::size_t page = 0; page < view.pages; ++page) text += render_page(subject, page);
  return text;
}

std::string json_of(const PendingApproval& pending) {
  JsonWriter json;
  json.begin_object().field("run", pending.run.text).field("call", to_string(pending.call));
  json.field("kind", name(pending.kind)).field("tool", pending.tool);
  json.field("input", pending.input).field("reason", pending.reason);
  json.field("stage", name(pending.stage)).field("rule", pending.rule);
  json.field("project", pending.project).field("binding", to_hex(pending.binding));
  json.field("digest", to_hex(sha256(pending.input))).field("to_sign", pending.to_sign);
  json.field("model_says", pending.prose);
  json.field("asked_at_ms", pending.asked_at_ms).field("expires_at_ms", pending.expires_at_ms);
  if (!pending.parent.text.empty()) {
    json.field("parent", pending.parent.text).field("agent", pending.agent);
  }
  return json.end_object().take();
}

// Of a run that another one has started.
static std::string whose(const PendingApproval& pending) {
  if (pending.parent.text.empty()) return "";
  return "the agent " + safe_line(pending.agent, 100) + " of run " + pending.parent.text +
         " asks; then go on with: pawl resume " + pending.parent.text + "\n";
}

std::string hint_of(const PendingApproval& pending) {
  const std::string call = pending.run.text + " " + to_string(pending.call);
  if (pending.kind == InterruptKind::input) {
    return whose(pending) + "answer it with: pawl answer " + pending.run.text + " TEXT";
  }
  if (pending.kind == InterruptKind::custom) {
    return whose(pending) + "decide with: pawl approve " + call + "   or: pawl deny " + call +
           " --reason TEXT   or: pawl answer " + pending.run.text + " TEXT --call " +
           to_string(pending.call);
  }
  return whose(pending) + "decide with: pawl approve " + call + "   or: pawl deny " + call +
         " --reason TEXT";
}

}  // namespace pawl
