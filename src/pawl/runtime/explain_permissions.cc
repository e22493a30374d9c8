#include "pawl/runtime/explain_permissions.h"

#include <fmt/format.h>

#include <deque>

#include "pawl/base/json.h"
#include "pawl/runtime/approvals.h"
#include "pawl/runtime/egress_notes.h"
#include "pawl/runtime/run_loader.h"

namespace pawl {
namespace {

struct Counts {
  std::uint64_t permitted = 0;
  std::uint64_t asked = 0;
  std::uint64_t denied = 0;
  std::deque<std::string> denials;
  std::deque<std::string> egress;

  // What the egress guard decided while a call ran stands in the call's result.
  void take(JournalReader& reader, const RunId& run, const ToolFinished& event) {
    const auto text = resolve(reader, run, event.content);
    const auto list = text ? egress_notes_of(*text) : std::nullopt;
    if (!list || event.origin != Origin::executor) return;
    for (const Json& one : *list) {
      if (one.is_object() && one.find_string("target") == nullptr) continue;  // a count of the rest
      const auto word = [&one](std::string_view key) {
        const std::string* found = one.is_object() ? one.find_string(key) : nullptr;
        return found == nullptr ? std::string() : *found;
      };
      egress.push_back(fmt::format("  {} {} {}: {}\n", to_string(event.call), word("target"),
                                   word("verdict"), word("detail")));
      if (egress.size() > kDenialsExplainedMax) egress.pop_front();
    }
  }

  void deny(CallId call, GateStage stage, const std::string& rule, const std::string& text) {
    ++denied;
    denials.push_back(fmt::format("  {} ({}{}{}): {}\n", to_string(call), name(stage),
                                  rule.empty() ? "" : " ", rule, text));
    if (denials.size() > kDenialsExplainedMax) denials.pop_front();
  }
  void take(const Decision& decision) {
    if (std::holds_alternative<CallPermitted>(decision)) ++permitted;
    if (std::holds_alternative<ApprovalAsked>(decision)) ++asked;
    if (const auto* one = std::get_if<CallDenied>(&decision)) {
      deny(one->call, one->stage, one->rule, one->text);
    }
    const auto* refused = std::get_if<CallRefused>(&decision);
    if (refused != nullptr && refused->because == RefusedBecause::denied) {
      deny(refused->call, refused->stage, refused->rule, refused->text);
    }
  }
};

}  // namespace

std::string explain_approvals(JournalReader& reader, const RunState& state) {
  const auto pending = pending_approvals(reader, state);
  if (!pending) return "What it waits for cannot be read: " + pending.error().message + "\n";
  std::string text;
  for (const PendingApproval& one : *pending) {
    text +=
        fmt::format("{} ({} {}) waits for a person: {} ({}{}{}).\n", to_string(one.call), one.tool,
                    one.input, one.reason, name(one.stage), one.rule.empty() ? "" : " ", one.rule);
    text += one.kind == InterruptKind::input
                ? fmt::format("Answer it: pawl answer {} TEXT\n", state.id.text)
                : fmt::format("Decide: pawl approve {0} {1} | pawl deny {0} {1} --reason TEXT\n",
                              state.id.text, to_string(one.call));
  }
  return text;
}

std::string explain_permissions(JournalReader& reader, const RunId& run) {
  Counts counts;
  JournalWalker walker(reader, run);
  const Status walked = walker.walk([&](const Record& record, const Run&) {
    const auto* ended = std::get_if<ToolFinished>(&record.event);
    if (ended != nullptr) counts.take(reader, run, *ended);
    for (const Decision& decision : record.decisions) counts.take(decision);
    return true;
  });
  if (!walked || counts.permitted + counts.asked + counts.denied == 0) return "";
  std::string text = fmt::format("Calls: {} permitted, {} put before a person, {} denied.\n",
                                 counts.permitted, counts.asked, counts.denied);
  for (const std::string& denial : counts.denials) text += denial;
  if (!counts.egress.empty()) text += "Connections that calls asked for, as their results say:\n";
  for (const std::string& one : counts.egress) text += one;
  return text;
}

}  // namespace pawl
