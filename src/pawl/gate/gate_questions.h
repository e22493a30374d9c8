// The part of the pipeline that takes its time: the scripts of rules, then the hooks of the host.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pawl/gate/rules/rules.h"
#include "pawl/permissions.h"

namespace pawl {

struct ScriptQuestion {
  PendingScript pending;
  std::shared_ptr<Tool> program;  // null: it is not there, which denies
};

struct QuestionList {
  ProposedPlan plan;
  std::vector<ScriptQuestion> scripts;
  std::vector<PreToolUseHook> hooks;
};

struct QuestionsAnswer {
  GateStage stage = GateStage::none;
  Judgement judgement;
  InterruptKind kind = InterruptKind::approval;
};

// A script gets {"tool","input","run","phase"} on its standard input and prints "allow", "ask" or
// "deny", and why after a space. Anything else, a failure and a timeout deny.
inline constexpr std::size_t kScriptReasonBytesMax = 1024;

// One after the other, until one denies. `done` once, on the loop thread, never from inside.
std::unique_ptr<Operation> ask_questions(QuestionList list, Loop& loop,
                                         std::function<void(const QuestionsAnswer&)> done);

}  // namespace pawl
