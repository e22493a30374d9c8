// chat: a conversation with a model, without tools and without a run.
#include <csignal>
#include <iostream>
#include <utility>

#include "pawl/base/utf8.h"
#include "pawl/json.h"
#include "pawl/kernel/retry.h"
#include "pawl/models/model_names.h"
#include "pawl/models/sampling_check.h"
#include "pawl/run/model/reply_assembler.h"
#include "pawl/surface/cli/charter_chat.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/run_options.h"

namespace pawl {
namespace {

constexpr std::size_t kTurnsMax = 1'000;
constexpr std::size_t kTurnBytesMax = 1U << 20U;

struct Answer {
  std::string text;
  Usage usage;
  std::optional<PhaseDone> done;
  enum class Cut : std::uint8_t { no, yes } cut = Cut::no;
};

class Conversation {
 public:
  Conversation(const CliContext& context, PreparedAgent agent, SamplingOptions sampling)
      : context_(context), agent_(std::move(agent)), effort_(sampling.effort) {
    request_.system_prompt = context.arguments.one_or("system", "");
    request_.sampling = sampling;
    choose(0);
    context_.console().pace({});  // A reader who does not read holds up no signal.
  }

  // One turn: says `text`, prints what comes.
  int say(std::string text) {
    request_.messages.push_back({Role::user, std::move(text)});
    while (true) {
      Answer answer;
      const bool interrupted = ask(answer);
      if (answer.cut == Answer::Cut::yes) take_as_cut(answer);
      if (!interrupted && moved_on(answer)) continue;
      const int code = finish(answer);
      wait_for_reader();
      return interrupted ? kExitCancelled : code;
    }
  }

  std::size_t turns() const { return request_.messages.size(); }

 private:
  const ResolvedTarget& target() const { return agent_.targets[target_]; }

  void choose(std::size_t number) {
    target_ = number;
    request_.model = target().literal;
    const bool unset = effort_ == ReasoningEffort::unset;
    request_.sampling.effort = unset ? target().effort : effort_;
  }

  // True if somebody interrupted it.
  bool ask(Answer& answer) {
    bool interrupted = false;
    MainLoop& loop = context_.environment.main_loop();
    const auto operation = agent_.executor->chat(
        request_, [&](PhaseExecutorEvent event) { take(answer, std::move(event)); });
    operation_ = operation.get();
    auto signals = loop.on_signals({SIGINT, SIGTERM}, [&](int) {
      if (std::exchange(interrupted, true)) return;
      operation->abort();
    });
    loop.run_until([&] { return answer.done.has_value(); });
    signals.reset();
    operation_ = nullptr;
    return interrupted;
  }

  // Until he has the whole reply; not longer than kReaderGraceMs if he does not read.
  void wait_for_reader() {
    context_.console().flush();
    if (context_.console().backlog(Stream::out).pending() == 0) return;
    print_stderr(context_, "standard output was not read: the rest of the reply is lost");
  }

  // To the next model of the chain, where a run would go to it after one attempt. The conversation
  // stays with the one that answers.
  bool moved_on(const Answer& answer) {
    const auto* failed = std::get_if<PhaseFailed>(&answer.done->outcome);
    if (failed == nullptr || target_ + 1 == agent_.targets.size()) return false;
    RetryPolicy once;
    once.attempts_before_failover = 1;
    ModelFailure failure{failed->kind, failed->category, 1, failed->retry_after_ms};
    failure.next = ModelFailure::Next::there_is;
    if (!answer.text.empty()) failure.output = ModelFailure::Output::began;
    if (next_move(once, failure).kind != NextMove::Kind::next_target) return false;
    print_stderr(context_, request_.model + ": " + failed->message);
    choose(target_ + 1);
    return true;
  }

  void take(Answer& answer, PhaseExecutorEvent event) {
    if (auto* delta = std::get_if<TextDelta>(&event)) {
      answer.text += delta->text;
      if (context_.format() == Format::text) print(context_, safe_text(delta->text));
      cut_if_beyond(answer);
    }
    if (auto* reported = std::get_if<UsageReported>(&event)) answer.usage = reported->usage;
    if (auto* line = std::get_if<PhaseLog>(&event)) log(context_, LogLevel::debug, line->text);
    if (auto* done = std::get_if<PhaseDone>(&event)) answer.done = std::move(*done);
  }

  std::uint64_t tokens_max() const { return request_.sampling.max_output_tokens.value_or(0); }

  // A provider that does not keep to the cap is not listened to any longer.
  void cut_if_beyond(Answer& answer) {
    const bool enough =
        is_beyond_cap(answer.text.size(), tokens_max()) || answer.text.size() > kReplyBytesMax;
    if (!enough || answer.cut == Answer::Cut::yes || operation_ == nullptr) return;
    answer.cut = Answer::Cut::yes;
    operation_->abort();
  }

  void take_as_cut(Answer& answer) {
    if (!std::holds_alternative<PhaseAborted>(answer.done->outcome)) return;
    PhaseReplied replied;
    replied.stop = ReplyStop::max_tokens;
    answer.done->outcome = std::move(replied);
    print_stderr(context_, request_.model + ": " +
                               (tokens_max() > 0 ? cut_off_at(tokens_max())
                                                 : "cut off: larger than a reply may be"));
  }

  int finish(const Answer& answer) {
    const auto* replied = std::get_if<PhaseReplied>(&answer.done->outcome);
    const auto* failed = std::get_if<PhaseFailed>(&answer.done->outcome);
    if (context_.format() == Format::text && !answer.text.empty()) print(context_, "\n");
    if (replied != nullptr) request_.messages.push_back({Role::assistant, answer.text});
    if (replied == nullptr) request_.messages.pop_back();  // It was not heard.
    if (context_.format() == Format::json) report(answer, replied, failed);
    if (failed != nullptr) {
      print_stderr(context_, request_.model + ": " + failed->message);
      return kExitFailed;
    }
    return replied == nullptr ? kExitCancelled : kExitDone;
  }

  void report(const Answer& answer, const PhaseReplied* replied, const PhaseFailed* failed) {
    const auto stated = agent_.executor->calculate_cost("default", request_.model, answer.usage);
    const Prices& prices = target().facts.prices;
    JsonWriter json;
    json.begin_object().field("model", request_.model).field("output", answer.text);
    json.field("input_tokens", answer.usage.input_tokens)
        .field("output_tokens", answer.usage.output_tokens)
        .field("cache_read_tokens", answer.usage.cache_read_tokens)
        .field("cache_creation_tokens", answer.usage.cache_creation_tokens)
        .field("cache_creation_1h_tokens", answer.usage.cache_creation_1h_tokens);
    json.field("cost",
               format_money(stated.value_or(cost_pico(answer.usage, prices)), prices.currency));
    if (replied != nullptr) json.field("stop", name(replied->stop));
    if (failed != nullptr) json.field("error", failed->message);
    json.end_object();
    print(context_, json.take() + "\n");
  }

  const CliContext& context_;
  PreparedAgent agent_;
  const ReasoningEffort effort_;  // what was said of this chat goes before what an alias says
  ChatRequest request_;
  std::size_t target_ = 0;
  Operation* operation_ = nullptr;  // of the turn that is under way
};

Status check_targets(const std::vector<ResolvedTarget>& targets) {
  for (const ResolvedTarget& target : targets) {
    if (target.literal != kExternalModel) continue;
    return Error{ErrorCode::invalid_argument,
                 "a chat has nobody who takes the turns of the model external; pawl run and pawl "
                 "push have"};
  }
  return ok();
}

// Lines of a terminal, until its end.
int converse(const CliContext& context, Conversation& conversation) {
  int code = kExitDone;
  std::string line;
  while (conversation.turns() < kTurnsMax) {
    if (context.console().is_terminal(Stream::out)) context.console().write(Stream::err, "> ");
    if (!std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    if (line.size() > kTurnBytesMax || !is_valid_utf8(line)) {
      print_stderr(context, "a line is UTF-8 text of at most 1 MiB");
      continue;
    }
    code = conversation.say(line);
    if (code == kExitCancelled) break;
  }
  return code;
}

// Options of a talk with a bare model mean nothing to a run.
Status check_durable(const CliContext& context) {
  for (const std::string_view option :
       {"model", "system", "max-tokens", "temperature", "effort", "no-stream"}) {
    if (!context.arguments.has(option)) continue;
    return Error{ErrorCode::invalid_argument,
                 "--" + std::string(option) +
                     " is for a chat without a charter; a charter says "
                     "it itself"};
  }
  return ok();
}

int command_chat(const CliContext& context) {
  const Arguments& arguments = context.arguments;
  const std::string text_or_charter = arguments.one_or("TEXT", "");
  const bool goes_on = arguments.has("continue") || arguments.has("last");
  if (goes_on || names_charter(text_or_charter)) {
    Status durable = check_durable(context);
    if (durable && goes_on &&
        (arguments.has("TEXT") || arguments.has("continue") == arguments.has("last"))) {
      durable = Error{ErrorCode::invalid_argument,
                      "say pawl chat --continue RUN, or pawl chat --last; lines are read from "
                      "standard input"};
    }
    if (!durable) return fail(context, durable.error());
    return goes_on ? chat_with_run(context, arguments.one_or("continue", ""))
                   : chat_with_charter(context, text_or_charter);
  }
  const auto model = context.arguments.one("model");
  if (model && model->empty()) {
    return fail(context,
                {ErrorCode::invalid_argument, "--model is empty: leave it out, or name one"});
  }
  AgentReading reading = context.environment.chat_agent(model.value_or(""));
  if (!reading.agent) {
    for (const std::string& fault : reading.faults) print_stderr(context, fault);
    return kExitUsage;
  }
  for (const std::string& note : reading.notes) print_stderr(context, note);
  if (const Status answered = check_targets(reading.agent->targets); !answered) {
    return fail(context, answered.error());
  }
  const auto sampling = sampling_of(context.arguments);
  if (!sampling) return fail(context, sampling.error());
  if (const Status fits = check_sampling(*sampling, reading.agent->targets); !fits) {
    return fail(context, fits.error());
  }
  Conversation conversation(context, *std::move(reading.agent), *sampling);
  if (!context.arguments.has("TEXT")) return converse(context, conversation);
  auto text = Result<std::string>(context.arguments.one_or("TEXT", ""));
  if (*text == "-") text = context.environment.read_text("-");
  if (!text) return fail(context, text.error());
  if (text->empty() || !is_valid_utf8(*text)) {
    return fail(context, {ErrorCode::invalid_argument, "the text is UTF-8 and not empty"});
  }
  return conversation.say(*std::move(text));
}

}  // namespace

CommandEntry chat_entry() {
  return {
      .name = "chat",
      .summary = "Talk with an agent of a charter, or with a bare model",
      .text =
          "With a CHARTER (a name that ends in .yaml, .yml or .json) the conversation is a durable "
          "run, with the charter's tools, approvals and sandbox, a line a turn; each line gives it "
          "the charter's limits anew, but for money. Leave with Ctrl-D; --continue goes on. With "
          "TEXT one turn with a bare model, with - its text from standard input, without both a "
          "conversation with it: no tools, no run, and nothing is journaled. Of a chain the next "
          "model is asked when one fails before it has said anything. Ctrl-C ends it.",
      .arguments = {{"TEXT", "A charter, what to say, or -.", Need::optional}},
      .options = {{"continue", '\0', Takes::value, "RUN", "Go on with this conversation."},
                  {"last", '\0', Takes::nothing, "", "Go on with the run that was started last."},
                  {"model", 'm', Takes::value, "REF", "A model, alias, tier or chain."},
                  {"system", '\0', Takes::value, "TEXT", "The system prompt."},
                  {"max-tokens", '\0', Takes::value, "N", "The most an answer may have."},
                  {"temperature", '\0', Takes::value, "T", "From 0 to 2."},
                  {"effort", '\0', Takes::value, "E", "minimal, low, medium, high or max.",
                   "minimal low medium high max"},
                  {"no-stream", '\0', Takes::nothing, "", "Ask for the answer in one piece."}},
      .run = command_chat,
  };
}

}  // namespace pawl
