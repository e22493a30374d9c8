#include "pawl/gate/gate_questions.h"

#include "pawl/base/thrown.h"
#include "pawl/base/utf8.h"
#include "pawl/json.h"

namespace pawl {
namespace {

Judgement verdict_in(const std::string& rule, const std::string& printed) {
  std::string line = printed.substr(0, printed.find('\n'));
  const std::size_t space = line.find(' ');
  const auto verdict = parse_verdict(line.substr(0, space));
  if (!verdict) return {Verdict::deny, rule, "the script of " + rule + " has said nothing clear"};
  std::string reason = space == std::string::npos ? "" : line.substr(space + 1);
  reason = to_valid_utf8(reason.substr(0, kScriptReasonBytesMax));
  return {*verdict, rule, reason.empty() ? "the script of " + rule + " says so" : reason};
}

Judgement judgement_of(const PendingScript& pending, const ToolOutcome& outcome) {
  if (outcome.kind == ToolOutcome::Kind::succeeded) {
    return verdict_in(pending.rule, outcome.content);
  }
  return {Verdict::deny, pending.rule,
          "the script of " + pending.rule +
              " failed: " + to_valid_utf8(outcome.content.substr(0, kScriptReasonBytesMax))};
}

class Questions final : public std::enable_shared_from_this<Questions> {
 public:
  Questions(QuestionList list, Loop& loop, std::function<void(const QuestionsAnswer&)> done)
      : list_(std::move(list)), loop_(loop), done_(std::move(done)) {}

  void start() {
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->next();
    });
  }
  void abort() {
    loop_.post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->take(GateStage::hook, {Verdict::deny, "", "the run is stopping"}, self->asked_);
    });
  }

 private:
  void next();
  void ask_script(const ScriptQuestion& question);
  void ask_hook(const PreToolUseHook& hook);
  void take(GateStage stage, const Judgement& judgement, std::size_t number,
            InterruptKind kind = InterruptKind::approval);

  QuestionList list_;
  Loop& loop_;
  std::function<void(const QuestionsAnswer&)> done_;
  std::size_t asked_ = 0;  // which question is open: later answers to it are ignored
  std::unique_ptr<Operation> running_;
  std::unique_ptr<Timer> timer_;
  QuestionsAnswer answer_;
};

void Questions::next() {
  if (!done_) return;
  const std::size_t number = asked_++;
  if (number < list_.scripts.size()) return ask_script(list_.scripts[number]);
  const std::size_t hook = number - list_.scripts.size();
  if (hook < list_.hooks.size()) return ask_hook(list_.hooks[hook]);
  std::exchange(done_, {})(answer_);
}

void Questions::take(GateStage stage, const Judgement& judgement, std::size_t number,
                     InterruptKind kind) {
  if (!done_ || number != asked_) return;
  timer_.reset();
  // Nothing is destroyed inside its own callback.
  if (running_) loop_.post([gone = std::shared_ptr<Operation>(std::move(running_))] {});
  if (judgement.verdict > answer_.judgement.verdict) answer_ = {stage, judgement, kind};
  if (judgement.verdict == Verdict::deny) return std::exchange(done_, {})(answer_);
  start();
}

void Questions::ask_script(const ScriptQuestion& question) {
  const std::size_t number = asked_;
  if (question.program == nullptr) {
    return take(GateStage::rule,
                {Verdict::deny, question.pending.rule,
                 "the script " + question.pending.script + " is not there"},
                number);
  }
  const ProposedCall& call = list_.plan.calls.front();
  JsonWriter input;
  input.begin_object().field("tool", call.tool).field("input", call.input);
  input.field("run", list_.plan.run.text).field("phase", list_.plan.node).end_object();
  ToolInvocation invocation;
  invocation.run = list_.plan.run;
  invocation.instance = list_.plan.instance;
  invocation.key = to_hex(sha256(call.input));
  invocation.input = input.take();
  running_ = question.program->invoke(
      invocation,
      [weak = weak_from_this(), number, pending = question.pending](const ToolOutcome& outcome) {
        const auto self = weak.lock();
        if (self) self->take(GateStage::rule, judgement_of(pending, outcome), number);
      });
}

void Questions::ask_hook(const PreToolUseHook& hook) {
  const std::size_t number = asked_;
  const auto late = [weak = weak_from_this(), number, name = hook.name] {
    const auto self = weak.lock();
    if (!self) return;
    self->take(GateStage::hook, {Verdict::deny, name, "the hook " + name + " has not answered"},
               number);
  };
  timer_ = loop_.after(hook.timeout_ms, late);
  try {
    hook.ask(list_.plan,
             [weak = weak_from_this(), number, name = hook.name](const PreToolUseAnswer& said) {
               const auto self = weak.lock();
               if (self)
                 self->take(GateStage::hook, {said.verdict, name, said.reason}, number, said.kind);
             });
  } catch (...) {  // A hook of the host's: it denies.
    take(GateStage::hook,
         {Verdict::deny, hook.name, "the hook " + hook.name + " failed: " + what_was_thrown()},
         number);
  }
}

class OpenQuestions final : public Operation {
 public:
  explicit OpenQuestions(std::shared_ptr<Questions> questions) : questions_(std::move(questions)) {}
  void abort() override { questions_->abort(); }

 private:
  std::shared_ptr<Questions> questions_;
};

}  // namespace

std::unique_ptr<Operation> ask_questions(QuestionList list, Loop& loop,
                                         std::function<void(const QuestionsAnswer&)> done) {
  const auto questions = std::make_shared<Questions>(std::move(list), loop, std::move(done));
  questions->start();
  return std::make_unique<OpenQuestions>(questions);
}

PreToolUseHook pre_tool_use(std::string name,
                            std::function<PreToolUseAnswer(const ProposedCall& call)> judge) {
  PreToolUseHook hook;
  hook.name = std::move(name);
  hook.ask = [judge = std::move(judge)](const ProposedPlan& plan,
                                        const std::function<void(PreToolUseAnswer)>& answer) {
    answer(judge(plan.calls.front()));
  };
  return hook;
}

}  // namespace pawl
