#include "pawl/adapter/backend/command/command_answer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "pawl/json.h"

namespace pawl::tool_command {
namespace {

using Kind = ToolOutcome::Kind;

struct Verdict {
  Kind kind = Kind::failed;
  std::string sentence;
};

std::string signal_text(int signal) {
  const char* abbreviation = ::sigabbrev_np(signal);
  const std::string number = std::to_string(signal);
  return abbreviation == nullptr ? number : number + " (SIG" + abbreviation + ")";
}

// One overload for each way in which a command can end.
struct Judge {
  std::int64_t timeout_ms;

  Verdict operator()(const NotStarted& end) const { return {Kind::failed, end.why}; }
  Verdict operator()(const NeverAllowed&) const {
    return {Kind::aborted, "The command was aborted before it had started."};
  }
  Verdict operator()(const Exited& end) const {
    if (end.code == 0) return {Kind::succeeded, ""};
    return {Kind::failed, "The command failed with exit code " + std::to_string(end.code) + "."};
  }
  // Not failed: it had no chance to say what it had done.
  Verdict operator()(const Signalled& end) const {
    return {Kind::aborted, "The command was ended by signal " + signal_text(end.signal) +
                               ". What it had done by then is not known."};
  }
  Verdict operator()(const TimedOut&) const {
    return {Kind::timed_out, "The command was killed at its timeout of " +
                                 std::to_string(timeout_ms) + " ms, with all that it had started."};
  }
  Verdict operator()(const Stopped&) const {
    return {Kind::aborted, "The command was aborted and killed, with all that it had started."};
  }
  // Not failed: nobody knows whether it did what it was asked to do.
  Verdict operator()(const Lost& end) const {
    return {Kind::aborted, "How the command ended is not known: " + end.why + "."};
  }
};

std::string survivors_sentence(const std::vector<pid_t>& survivors) {
  constexpr std::size_t kNamedMax = 8;
  std::string text = "\nProcesses that could not be killed:";
  for (std::size_t i = 0; i < survivors.size() && i < kNamedMax; ++i) {
    text += " " + std::to_string(survivors[i]);
  }
  return text + (survivors.size() > kNamedMax ? " and more." : ".");
}

// Its end is what a failing program usually says last, so errors get their room first.
ToolOutcome explained(Verdict verdict, const CommandEnd& end, std::size_t bytes_max) {
  constexpr std::string_view kOutputTitle = "\n--- stdout ---\n";
  constexpr std::string_view kErrorsTitle = "\n--- stderr ---\n";
  std::string text = std::move(verdict.sentence);
  if (!end.survivors.empty()) text += survivors_sentence(end.survivors);
  const std::size_t used = text.size() + kOutputTitle.size() + kErrorsTitle.size();
  const std::size_t room = bytes_max - std::min(bytes_max, used);
  const Rendered errors = end.errors.render(std::min(kErrorOutputBytesMax, room / 2));
  const Rendered output = end.output.render(room - errors.text.size());
  if (!output.text.empty()) text.append(kOutputTitle).append(output.text);
  if (!errors.text.empty()) text.append(kErrorsTitle).append(errors.text);
  Rendered whole = end.output.render_other(text, bytes_max);
  const std::uint64_t cut = output.cut_bytes + errors.cut_bytes + whole.cut_bytes;
  const std::uint64_t length = whole.text.size() + cut;
  return {verdict.kind, std::move(whole.text), length};
}

Verdict judge(const CommandEnd& end, const ToolSpec& spec) {
  return std::visit(Judge{spec.timeout_ms}, end.how);
}

ToolStatus unknown(const std::string& why, const CommandEnd& end, const ToolSpec& spec) {
  return {ToolStatus::Kind::unknown, end.output.render_other(why, spec.output_bytes_max).text};
}

ToolStatus read_status(const JsonObject& answer, const CommandEnd& end, const ToolSpec& spec) {
  const Json* word = answer.find("outcome");
  const Json* result = answer.find("result");
  const std::size_t known = (word != nullptr ? 1U : 0U) + (result != nullptr ? 1U : 0U);
  if (word == nullptr || !word->is_string() || answer.size() != known) {
    return unknown(
        "The status command must print {\"outcome\": \"done\" | \"absent\" | \"unknown\", "
        "\"result\": …} and no other keys.",
        end, spec);
  }
  std::string text;
  if (result != nullptr) text = result->is_string() ? result->string() : write_json(*result);
  text = end.output.render_other(text, spec.output_bytes_max).text;
  if (word->string() == "done") return {ToolStatus::Kind::done, std::move(text)};
  if (word->string() == "absent") return {ToolStatus::Kind::absent, std::move(text)};
  if (word->string() != "unknown") {
    return unknown("The status command printed the outcome \"" + word->string() +
                       "\", which is none of done, absent and unknown.",
                   end, spec);
  }
  if (text.empty()) text = "The status command does not know.";
  return {ToolStatus::Kind::unknown, std::move(text)};
}

}  // namespace

ToolOutcome outcome_of(const CommandEnd& end, const ToolSpec& spec) {
  Verdict verdict = judge(end, spec);
  if (verdict.kind != Kind::succeeded) {
    return explained(std::move(verdict), end, spec.output_bytes_max);
  }
  Rendered output = end.output.render(spec.output_bytes_max);
  const std::uint64_t length = output.text.size();
  if (output.cut_bytes == 0) return {Kind::succeeded, std::move(output.text), length};
  // Replaced bytes can make a cut text longer than the bytes it was made of.
  return {Kind::succeeded, std::move(output.text), std::max(end.output.bytes_total(), length + 1)};
}

ToolStatus status_of(const CommandEnd& end, const ToolSpec& spec) {
  Verdict verdict = judge(end, spec);
  if (verdict.kind != Kind::succeeded) {
    const ToolOutcome why = explained(std::move(verdict), end, spec.output_bytes_max);
    return unknown("The status command gave no answer. " + why.content, end, spec);
  }
  if (!end.output.is_complete()) return unknown("The status command printed too much.", end, spec);
  const auto answer = parse_json(end.output.head());
  if (!answer) {
    return unknown("The status command printed no JSON: " + answer.error().message, end, spec);
  }
  if (!answer->is_object()) return unknown("The status command printed no JSON object.", end, spec);
  return read_status(answer->object(), end, spec);
}

}  // namespace pawl::tool_command
