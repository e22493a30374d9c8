#include "pawl/history/explain_permissions.h"

#include <fmt/format.h>

#include <deque>

#include "pawl/gate/approvals/approvals.h"
#include "pawl/journal/run_loader.h"
#include "pawl/json.h"

namespace pawl {
namespace {

struct Counts {
  std::uint64_t permitted = 0;
  std::uint64_t asked = 0;
  std::uint64_t denied = 0;
  std::vector<std::string> tools;  // of every call so far
  std::deque<std::string> rulings;
  std::deque<std::string> egress;

  void take(const ToolFinished& event) {
    for (const EgressNote& one : event.egress.notes) {
      egress.push_back(fmt::format("  {} {} {}: {}\n", to_string(event.call), one.target,
                                   one.verdict, one.detail));
      if (egress.size() > kDenialsExplainedMax) egress.pop_front();
    }
  }

  // Calls have numbers in the order in which models asked for them.
  void take(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      if (const auto* call = std::get_if<CallBlock>(&block)) tools.push_back(call->tool);
    }
  }
  // Which tool, and which rule of which stage.
  template <class Ruling>
  void note(const Ruling& ruling, const std::string& text) {
    const auto number = static_cast<std::size_t>(ruling.call);
    const bool known = number > 0 && number <= tools.size();
    rulings.push_back(fmt::format("  {}{}{} ({}{}{}): {}\n", to_string(ruling.call),
                                  known ? " " : "", known ? tools[number - 1] : "",
                                  name(ruling.stage), ruling.rule.empty() ? "" : " ", ruling.rule,
                                  text));
    if (rulings.size() > kDenialsExplainedMax) rulings.pop_front();
  }
  void take(const Decision& decision) {
    if (const auto* one = std::get_if<CallPermitted>(&decision)) {
      ++permitted;
      if (!one->rule.empty()) note(*one, "permitted");
    }
    if (const auto* one = std::get_if<ApprovalAsked>(&decision)) {
      ++asked;
      note(*one, "put before a person: " + one->reason);
    }
    if (const auto* one = std::get_if<CallDenied>(&decision)) {
      ++denied;
      note(*one, one->text);
    }
    const auto* refused = std::get_if<CallRefused>(&decision);
    if (refused != nullptr && refused->because == RefusedBecause::denied) {
      ++denied;
      note(*refused, refused->text);
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
    if (one.kind == InterruptKind::custom) {
      text += fmt::format(
          "Decide: pawl approve {0} {1} | pawl deny {0} {1} --reason TEXT | pawl answer {0} TEXT "
          "--call {1}\n",
          state.id.text, to_string(one.call));
      continue;
    }
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
    if (ended != nullptr) counts.take(*ended);
    if (const auto* replied = std::get_if<ModelReplied>(&record.event)) {
      counts.take(replied->blocks);
    }
    if (const auto* pushed = std::get_if<ExternalTurnPushed>(&record.event)) {
      counts.take(pushed->blocks);
    }
    for (const Decision& decision : record.decisions) counts.take(decision);
    return true;
  });
  if (!walked || counts.permitted + counts.asked + counts.denied == 0) return "";
  std::string text = fmt::format("Calls: {} permitted, {} put before a person, {} denied.\n",
                                 counts.permitted, counts.asked, counts.denied);
  for (const std::string& ruling : counts.rulings) text += ruling;
  if (!counts.egress.empty())
    text += "Connections that calls asked for, and what the guard said:\n";
  for (const std::string& one : counts.egress) text += one;
  return text;
}

}  // namespace pawl
