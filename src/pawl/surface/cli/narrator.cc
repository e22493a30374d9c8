#include "pawl/surface/cli/narrator.h"

#include <fmt/format.h>

#include <algorithm>

#include "pawl/json.h"
#include "pawl/kernel/transcript.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::size_t kSentenceColumnsMax = 400;
constexpr double kMsPerSecond = 1000.0;

Tone tone_of(ToolEnd end) {
  return end == ToolEnd::succeeded ? Tone::good : Tone::bad;
}

std::string words_of(ToolEnd end) {
  switch (end) {
    case ToolEnd::succeeded:
      return "done";
    case ToolEnd::failed:
      return "failed";
    case ToolEnd::timed_out:
      return "ran into its timeout and was stopped";
    case ToolEnd::aborted:
      return "was stopped";
    case ToolEnd::denied:
      return "was denied";
  }
  return "ended";
}

std::string by_whom(const std::string& by) {
  return by.empty() ? "" : " by " + safe_line(by, kInputColumnsMax);
}

std::string_view color_of(Tone tone) {
  switch (tone) {
    case Tone::heading:
      return "\x1b[1m";
    case Tone::good:
      return "\x1b[32m";
    case Tone::bad:
      return "\x1b[31m";
    case Tone::quiet:
      return "\x1b[2m";
    case Tone::plain:
      break;
  }
  return "";
}

}  // namespace

std::string painted(const StoryLine& line) {
  const std::string color(color_of(line.tone));
  return color.empty() ? line.text : color + line.text + "\x1b[0m";
}

std::vector<StoryLine> told_text(const std::string& text, const std::string& indent, Wide wide) {
  std::vector<StoryLine> lines;
  std::size_t from = 0;
  while (from < text.size() && lines.size() < kResultLinesMax) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = std::string_view(text).substr(from, end - from);
    from = end + 1;
    if (wide == Wide::cut) {
      lines.push_back({Tone::plain, indent + safe_line(line, kResultColumnsMax)});
      continue;
    }
    for (const std::string& part : broken_line(safe_text(line), kTextColumnsMax)) {
      lines.push_back({Tone::plain, indent + part});
    }
  }
  if (from < text.size()) {
    lines.push_back(
        {Tone::quiet, fmt::format("{}… and {} more bytes", indent, text.size() - from)});
  }
  return lines;
}

void Narrator::know_call(CallId call, const std::string& tool) {
  tools_[call] = tool;
}

std::vector<std::string> Narrator::tools_running() const {
  std::vector<std::string> names;
  for (const auto& [call, tool] : running_) names.push_back(tool);
  return names;
}

// Tells one record: first the event, then what was decided.
struct Narrator::Teller {
  Narrator& self;
  const RecordView& view;
  std::vector<StoryLine> lines = {};

  void say(Tone tone, std::string text) { lines.push_back({tone, std::move(text)}); }
  void append(std::vector<StoryLine> more) { lines.insert(lines.end(), more.begin(), more.end()); }
  std::string label(CallId call) const {
    const auto found = self.tools_.find(call);
    const std::string tool = found == self.tools_.end() ? "tool" : found->second;
    return to_string(call) + " " + safe_line(tool, kInputColumnsMax);
  }
  std::string bytes(const Content& content) const { return self.read_(view.run, content); }

  void release_held() { append(told_text(std::exchange(self.held_text_, {}), "  ", Wide::broken)); }

  // Events.
  void tell(const RunStarted& event) {
    say(Tone::heading, fmt::format("run {}: {}", view.run.text, safe_line(event.name, 100)));
    if (!event.input.empty()) {
      say(Tone::quiet, "input: " + safe_line(bytes(event.input), kInputColumnsMax));
    }
  }
  void tell(const DriverAttached& event) {
    say(Tone::heading, fmt::format("run {}: taken up again{}", view.run.text, by_whom(event.by)));
  }
  void tell(const ModelReplied& event) {
    std::string text;
    for (const Block& block : event.blocks) {
      if (const TextBlock* one = std::get_if<TextBlock>(&block)) text += bytes(one->text);
      if (const RawBlock* raw = std::get_if<RawBlock>(&block)) tell_native(bytes(raw->json));
    }
    const bool calls = std::any_of(event.blocks.begin(), event.blocks.end(), [](const Block& b) {
      return std::holds_alternative<CallBlock>(b);
    });
    if (calls || self.turns_ == Turns::told) {
      append(told_text(text, "  ", Wide::broken));
    } else {
      self.held_text_ = std::move(text);
    }
  }
  // A tool that the executor ran by itself.
  void tell_native(const std::string& json) {
    const auto raw = parse_json(json);
    const std::string* type = raw ? raw->find_string("type") : nullptr;
    if (type == nullptr || *type != "native_tool_result") return;
    const auto text = [&raw](std::string_view key) {
      const std::string* found = raw->find_string(key);
      return found == nullptr ? std::string() : *found;
    };
    const bool fine = text("outcome") == "fine";
    say(fine ? Tone::quiet : Tone::bad,
        fmt::format("  {} {} (run by the executor): {}", safe_line(text("tool"), kInputColumnsMax),
                    fine ? "succeeded" : "failed", safe_line(text("content"), kResultColumnsMax)));
  }
  void tell(const ModelFailed& event) {
    if (event.kind == FailureKind::budget) {
      return say(Tone::quiet, "  " + safe_line(event.message, kSentenceColumnsMax));
    }
    say(Tone::bad, fmt::format("  the model failed ({}): {}", name(event.category),
                               safe_line(event.message, kSentenceColumnsMax)));
  }
  void tell(const ModelAborted&) { say(Tone::quiet, "  the model call was stopped"); }
  void tell(const ToolFinished& event) {
    self.running_.erase(event.call);
    const std::string text = bytes(event.content);
    const bool well = event.child == RunStatus::done;  // the run that the call had started
    const Tone tone = well ? tone_of(event.end) : Tone::bad;
    const std::string what =
        fmt::format("  {} {}", label(event.call), well ? words_of(event.end) : name(event.child));
    const bool one_line = text.find('\n') >= text.size() - (text.empty() ? 0 : 1);
    if (one_line) {
      const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
      const std::string shown = safe_line(line, kResultColumnsMax);
      say(tone, shown.empty() ? what : what + ": " + shown);
      return;
    }
    say(tone, what + ":");
    append(told_text(text, "  | ", Wide::cut));
  }
  void tell(const ToolStatusLearned& event) {
    self.running_.erase(event.call);
    say(Tone::quiet, fmt::format("  {} was asked what had become of it: {}", label(event.call),
                                 name(event.answer)));
  }
  void tell(const ResultCameLate& event) {
    say(Tone::quiet, fmt::format("  {} reported after it had been given up ({}): kept as evidence, "
                                 "not shown to the model",
                                 label(event.call), name(event.end)));
  }
  void tell(const DoubtResolved& event) {
    const bool happened = event.verdict == DoubtVerdict::happened;
    say(Tone::plain, fmt::format("  {} is resolved{}: it {}", label(event.call), by_whom(event.by),
                                 happened ? "happened" : "did not happen, and is made again"));
  }
  void tell(const MessageReceived& event) {
    say(Tone::plain, fmt::format("  message from {}: {}", safe_line(event.from, kInputColumnsMax),
                                 safe_line(bytes(event.text), kSentenceColumnsMax)));
  }
  void tell(const RunReopened& event) {
    say(Tone::heading, fmt::format("run {}: goes on{}", view.run.text, by_whom(event.by)));
    if (event.limits) say(Tone::quiet, "  with other limits");
    if (event.guards) say(Tone::quiet, "  with other guards");
    if (!event.message.empty()) {
      say(Tone::plain, "  message: " + safe_line(bytes(event.message), kSentenceColumnsMax));
    }
  }
  void tell(const PhaseControlled& event) {
    say(Tone::plain, fmt::format("  {} of phase {}{}", name(event.action),
                                 safe_line(event.phase, kInputColumnsMax), by_whom(event.by)));
  }
  void tell(const EventReceived& event) {
    say(Tone::plain,
        fmt::format("  event {}{}", safe_line(event.event, kInputColumnsMax), by_whom(event.by)));
  }
  void tell(const PauseRequested& event) {
    say(Tone::quiet, "  a pause was asked for" + by_whom(event.by));
  }
  void tell(const ResumeRequested&) { say(Tone::quiet, "  it goes on"); }
  void tell(const CancelRequested& event) {
    const std::string why = event.reason.empty() ? "" : ": " + safe_line(event.reason, 200);
    say(Tone::bad, "  an end was asked for" + by_whom(event.by) + why);
  }
  void tell(const HookFailed& event) {
    say(Tone::bad, fmt::format("  a callback ({}) failed: {}", name(event.point),
                               safe_line(event.message, kSentenceColumnsMax)));
  }
  template <class Other>
  void tell(const Other&) {}  // Nothing that somebody who follows would miss.

  // Decisions.
  void tell_decision(const StepBegan& decision) {
    release_held();
    say(Tone::heading, fmt::format("step {}", decision.step));
  }
  void tell_decision(const CallOpened& decision) {
    const CallBlock* block = block_at(decision.index);
    if (block == nullptr) return;
    self.tools_[decision.call] = block->tool;
    say(Tone::plain, fmt::format("  {} {}", label(decision.call),
                                 safe_line(bytes(block->input), kInputColumnsMax)));
  }
  void tell_decision(const SeatCalled& decision) {
    const auto block = seat_call(decision.call, view.record);
    self.tools_[decision.call] = decision.tool;
    say(Tone::plain,
        fmt::format("  {} {}", label(decision.call),
                    block ? safe_line(bytes(block->input), kInputColumnsMax) : std::string()));
  }
  void tell_decision(const CallRefused& decision) {
    if (const CallBlock* block = block_at(decision.index)) self.tools_[decision.call] = block->tool;
    say(Tone::bad, fmt::format("  {} refused: {}", label(decision.call),
                               safe_line(decision.text, kSentenceColumnsMax)));
  }
  void tell_decision(const CallInDoubt& decision) {
    self.running_.erase(decision.call);
    say(Tone::bad, fmt::format("  {} is in doubt: it was cut short, and nobody knows whether it "
                               "took effect",
                               label(decision.call)));
  }
  void tell_decision(const CallRetried& decision) {
    say(Tone::quiet, fmt::format("  {} is run again, with the same key", label(decision.call)));
  }
  void tell_decision(const CallUnknown& decision) {
    say(Tone::bad, fmt::format("  {}: its outcome is unknown, and the model is told so",
                               label(decision.call)));
  }
  void tell_decision(const AttemptDiscarded& decision) {
    if (total_tokens(decision.charged) == 0) return;
    say(Tone::quiet, fmt::format("  a model call was lost and counts as {} tokens",
                                 total_tokens(decision.charged)));
  }
  void tell_decision(const RetryPlanned& decision) {
    const std::uint64_t now = view.record.stamp.elapsed_ms;
    const std::uint64_t wait = decision.at_elapsed_ms > now ? decision.at_elapsed_ms - now : 0;
    say(Tone::quiet,
        fmt::format("  trying again in {:.1f} s", static_cast<double>(wait) / kMsPerSecond));
  }
  void tell_decision(const EndingBegan& decision) {
    if (decision.status == RunStatus::done) return;
    const std::string detail =
        decision.detail.empty() ? "" : ": " + safe_line(decision.detail, kSentenceColumnsMax);
    say(Tone::bad, fmt::format("  ending ({}){}", name(decision.reason), detail));
  }
  void tell_decision(const PhaseBegan& decision) {
    const bool waits = decision.status == PhaseStatus::waiting;
    release_held();
    say(Tone::heading, fmt::format("phase {}{}", safe_line(decision.phase, kInputColumnsMax),
                                   waits ? " waits" : ""));
  }
  void tell_decision(const PhaseEnded& decision) {
    const bool bad =
        decision.status == PhaseStatus::failed || decision.status == PhaseStatus::cancelled;
    const std::string why =
        decision.why.empty() ? "" : ": " + safe_line(decision.why, kSentenceColumnsMax);
    say(bad ? Tone::bad : Tone::quiet,
        fmt::format("  phase {} is {}{}", safe_line(decision.phase, kInputColumnsMax),
                    name(decision.status), why));
  }
  void tell_decision(const WorkItemSet& decision) {
    say(Tone::quiet,
        fmt::format("  work item {} is {}: {}", decision.item.id, name(decision.item.status),
                    safe_line(decision.item.title, kSentenceColumnsMax)));
  }
  void tell_decision(const EndingHeld&) {
    say(Tone::quiet, "  the run does not end: work items are open");
  }
  template <class Other>
  void tell_decision(const Other&) {}

  void note_effect(const RunTool& effect) {
    const auto found = self.tools_.find(effect.call);
    self.running_[effect.call] =
        found == self.tools_.end() ? to_string(effect.call) : safe_line(found->second, 40);
  }
  template <class Other>
  void note_effect(const Other&) {}

  const CallBlock* block_at(std::size_t index) const {
    const auto blocks = std::visit(
        [](const auto& event) -> const std::vector<Block>* {
          if constexpr (requires { event.blocks; }) return &event.blocks;
          return nullptr;
        },
        view.record.event);
    if (blocks == nullptr || index >= blocks->size()) return nullptr;
    return std::get_if<CallBlock>(&(*blocks)[index]);
  }
};

std::vector<StoryLine> Narrator::tell(const RecordView& view) {
  Teller teller{*this, view};
  std::visit([&teller](const auto& event) { teller.tell(event); }, view.record.event);
  for (const Decision& decision : view.record.decisions) {
    std::visit([&teller](const auto& one) { teller.tell_decision(one); }, decision);
  }
  for (const Effect& effect : view.record.effects) {
    std::visit([&teller](const auto& one) { teller.note_effect(one); }, effect);
  }
  return std::move(teller.lines);
}

}  // namespace pawl
