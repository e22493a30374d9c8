#include "pawl/history/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "pawl/history/explain_permissions.h"
#include "pawl/history/explain_tree.h"
#include "pawl/history/export.h"
#include "pawl/journal/event_json.h"
#include "pawl/journal/run_loader.h"
#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/transcript.h"

namespace pawl {
namespace {

// "steps" as an option of pawl resume, with what somebody might give.
std::string more_room(const std::string& run, std::string_view option, std::string_view example) {
  return fmt::format("Give it more, and it goes on: pawl resume {} --{} {}", run, option, example);
}

// How it goes on without anything else.
std::string as_it_is(const std::string& run) {
  return "It goes on with: pawl resume " + run;
}

std::string remedy_for(const std::string& run, StopReason reason) {
  switch (reason) {
    case StopReason::steps:
      return more_room(run, "steps", "+20");
    case StopReason::model_calls:
      return more_room(run, "model-calls", "+100");
    case StopReason::tool_calls:
      return more_room(run, "tool-calls", "+100");
    case StopReason::time:
      return more_room(run, "time", "+10m");
    case StopReason::tokens:
      return more_room(run, "tokens", "+100000");
    case StopReason::bytes_in:
      return more_room(run, "bytes-in", "+1MB");
    case StopReason::bytes_out:
      return more_room(run, "bytes-out", "+1MB");
    case StopReason::branches:
      return more_room(run, "branches", "+10");
    case StopReason::repeated_call:
      return "It was going round in circles; `guards.identical_calls` sets how often it may. " +
             as_it_is(run) + " (--guard identical_calls=off lets it)";
    case StopReason::repeated_step:
      return "It was going round in circles; `guards.identical_steps` sets how often it may. " +
             as_it_is(run) + " (--guard identical_steps=off lets it)";
    case StopReason::tool_errors:
      return "Look at the last tool results with: pawl logs " + run +
             "; `guards.tool_errors` sets how many in a row are tolerated. " + as_it_is(run) +
             " (--guard tool_errors=off tolerates any number)";
    case StopReason::max_tokens:
      return "Its answer does not fit the model's output limit, even after it was asked to be "
             "brief. Ask for less: pawl message " +
             run + " TEXT";
    case StopReason::refusal:
      return "The model declined to answer; what it said is the run's output. Say more with: pawl "
             "message " +
             run + " TEXT";
    case StopReason::phase:
      return "`pawl tree` shows its phases; pawl phase " + run +
             " NAME rerun carries one out again, with all that depends on it";
    case StopReason::work_items:
      return "`pawl tree` lists the work items; `gate.blocks` sets how often it is asked";
    case StopReason::callback:
      return "A callback of the host asked for it. " + as_it_is(run);
    case StopReason::policy_violation:
      return "Start another run, with an input that is let in";
    default:
      return "When that is mended it goes on: pawl resume " + run;
  }
}

std::string used(const RunState& state) {
  const Tally& tally = state.tally;
  return fmt::format(
      "Used: {} of {} steps, {} of {} model calls, {} of {} tool calls, {} of {} tokens, "
      "{:.1f} of {:.0f} s of work, {}.\n",
      tally.steps, state.limits.steps, tally.model_calls, state.limits.model_calls,
      tally.tool_calls, state.limits.tool_calls, total_tokens(tally.usage), state.limits.tokens,
      static_cast<double>(tally.active_ms) / 1000.0,
      static_cast<double>(state.limits.time_ms) / 1000.0,
      format_money(tally.cost_pico, state.prices.currency));
}

// The root of a flow reads no message.
std::string say_more(const RunState& state) {
  if (has_flow(state)) return "";
  return " Say more to it with: pawl message " + state.id.text + " TEXT";
}

std::string explain_outcome(const RunState& state) {
  const Ending& ending = std::get<Ending>(state.course);
  const std::string detail = ending.detail.empty() ? "" : " (" + ending.detail + ")";
  switch (ending.status) {
    case RunStatus::done:
      return fmt::format("It is done: the model {} in step {}{}.{}\n",
                         ending.reason == StopReason::cede ? "gave control back" : "ended its turn",
                         ending.step, detail, say_more(state));
    case RunStatus::cancelled:
      return fmt::format("It was cancelled in step {}{}.{}\n", ending.step, detail,
                         say_more(state));
    case RunStatus::failed:
      return fmt::format("It failed in step {}: {}{}.\n{}\n", ending.step, name(ending.reason),
                         detail, remedy_for(state.id.text, ending.reason));
    default:
      return fmt::format("It was stopped in step {} by {}{}.\n{}\n", ending.step,
                         name(ending.reason), detail, remedy_for(state.id.text, ending.reason));
  }
}

std::string input_of(JournalReader& reader, const RunState& state, const Call& call) {
  const auto record = read_record(reader, state.id, call.seq);
  if (!record) return "?";
  const auto block = call_block(call, *record);
  if (!block) return "?";
  const auto bytes = resolve(reader, state.id, block->input);
  return bytes ? *bytes : "?";
}

// What the call's tool reported after it had been given up.
std::string evidence_of(JournalReader& reader, const RunState& state, const Call& call) {
  if (!call.late_result) return "";
  const auto record = read_record(reader, state.id, *call.late_result);
  const auto* late = record ? std::get_if<ResultCameLate>(&record->event) : nullptr;
  if (late == nullptr) return "";
  const auto text = resolve(reader, state.id, late->content);
  return fmt::format("Its tool reported after all, too late to count (record {}): {}: {}\n",
                     *call.late_result, name(late->end), text ? *text : "?");
}

std::string_view why_in_doubt(const RunState& state, const Call& call) {
  const PinnedTool* tool = tool_of_call(state, call);
  const bool askable = tool != nullptr && tool->effect == EffectClass::reconcilable;
  return askable ? "its tool could not tell, or the run ended before it was asked"
                 : "its tool can be neither repeated nor asked";
}

std::string explain_doubt(JournalReader& reader, const RunState& state) {
  std::string text;
  for (const CallId id : calls_in_doubt(state)) {
    const Call& call = *find_call(state, id);
    text += fmt::format(
        "Call {} ({} {}) was started, and whether it took effect is not known: it was cut short "
        "and {}. Its key is {}.\n",
        to_string(id), call.tool, input_of(reader, state, call), why_in_doubt(state, call),
        key_of(state, id));
    text += evidence_of(reader, state, call);
    if (std::holds_alternative<Finished>(state.life)) continue;
    text += fmt::format(
        "Find out, then say so: pawl resolve {} {} --happened [RESULT] | "
        "--did-not-happen\n",
        state.id.text, to_string(id));
  }
  return text;
}

// Where the run ended, and what it left behind: nobody can change that any more, but somebody may
// have to look after it.
std::string explain_end(JournalReader& reader, const RunState& state) {
  std::string text = explain_outcome(state) + explain_doubt(reader, state);
  std::size_t unanswered = 0;
  for (const Instance& instance : state.instances) unanswered += instance.waiting_messages.size();
  if (unanswered > 0) {
    text += fmt::format("Messages that it took and did not answer: {}.\n", unanswered);
  }
  return text;
}

std::string explain_pause_of_provider(const RunState& state) {
  const auto due = wake_wall_at(state);
  return "It waits because the provider asked for a pause" +
         (due ? ", until " + format_time(*due) : std::string()) + ". Then: pawl resume " +
         state.id.text + ", or pawl resume --due for all such runs\n";
}

// A command that no process stood behind pauses what it would start.
std::string explain_pause(JournalReader& reader, const RunState& state) {
  constexpr std::uint64_t kRecordsMax = 64;  // among the last of which the pause began
  const std::string go_on = fmt::format(" Go on with: pawl resume {}\n", state.id.text);
  const std::uint64_t oldest = state.length - std::min(state.length, kRecordsMax);
  for (std::uint64_t seq = state.length; seq-- > oldest;) {
    const auto record = read_record(reader, state.id, seq);
    if (!record) break;
    const auto& all = record->decisions;
    const bool began = std::any_of(all.begin(), all.end(), [](const Decision& one) {
      return std::holds_alternative<PauseBegan>(one);
    });
    if (!began) continue;
    const auto* command = std::get_if<CommandGiven>(&record->event);
    if (command == nullptr) break;
    return fmt::format("The command {} was carried out while no process drove the run.",
                       command->command) +
           go_on;
  }
  return "It is paused." + go_on;
}

std::string explain_children(const RunState& state) {
  std::string text = "It waits for runs that it has started, which wait themselves:\n";
  for (const ChildRun& child : state.children) {
    text += fmt::format("  {} (call {}, agent {}): pawl explain {}\n", child.run.text,
                        to_string(child.call), child.agent, child.run.text);
  }
  return text + fmt::format("When they can go on: pawl resume {}\n", state.id.text);
}

std::string explain_awaits(const RunState& state) {
  std::string text;
  for (std::size_t i = 0; i < state.flow.runs.size(); ++i) {
    const PhaseRun& run = state.flow.runs[i];
    const PhaseSpec& spec = state.flow.specs[i];
    if (run.status != PhaseStatus::waiting || !spec.await) continue;
    text += fmt::format("The phase {} awaits {}{}: pawl event {} {} [JSON], then pawl resume {}\n",
                        spec.name, spec.await->event,
                        run.until_at_ms == 0 ? "" : " until " + format_time(run.until_at_ms),
                        state.id.text, spec.await->event, state.id.text);
  }
  return text;
}

std::string explain_wait(JournalReader& reader, const RunState& state) {
  switch (waits_for(state)) {
    case WaitFor::in_doubt:
      return "It waits for somebody to say what a call did.\n" + explain_doubt(reader, state);
    case WaitFor::approval:
    case WaitFor::input:
      return explain_approvals(reader, state) + explain_awaits(state);
    case WaitFor::budget:
      return explain_budget_wait(state);
    case WaitFor::rate_limit:
      return explain_pause_of_provider(state);
    case WaitFor::children:
      return explain_children(state);
    case WaitFor::paused:
      return explain_pause(reader, state) + explain_held_instances(state);
    default:
      break;
  }
  return "It waits for an event.\n" + explain_awaits(state) + explain_held_instances(state);
}

std::string explain_running(const RunState& state, Driven driven) {
  std::string text = fmt::format("It is in step {}.", state.tally.steps);
  for (const Instance& instance : state.instances) {
    if (const BackingOff* phase = std::get_if<BackingOff>(&instance.phase)) {
      text += fmt::format(" {} waits to try its model call again, after {} failed attempts.",
                          to_string(instance.id), phase->failed_attempts);
    }
  }
  for (const OpenEffect& effect : state.open) {
    if (effect.kind == EffectKind::model) {
      text += (has_nodes(state) ? " A model call of " + to_string(effect.instance)
                                : std::string(" A model call")) +
              " is under way.";
    }
    if (effect.kind != EffectKind::tool) continue;
    const ChildRun* child = find_child(state, effect.call);
    text += child == nullptr ? " Tool call " + to_string(effect.call) + " is under way."
                             : fmt::format(" Run {} of the agent {} is under way, for call {}.",
                                           child->run.text, child->agent, to_string(effect.call));
  }
  const std::string tree = explain_instances(state);
  if (driven == Driven::yes) return text + " A process drives it.\n" + tree;
  return text + (tree.empty() ? "" : "\n" + tree.substr(0, tree.size() - 1)) +
         fmt::format(
             "\nNobody drives it: its process ended or was killed. Go on with: pawl "
             "resume {}\n",
             state.id.text);
}

// `unreadable` says what a look at its journal found just now; empty: it can be read.
std::string explain_quarantine(const RunSummary& summary, const std::string& unreadable) {
  const std::string& run = summary.id.text;
  if (!unreadable.empty()) {
    return "Its journal cannot be read: " + unreadable + "\nNobody drives it; `pawl verify " + run +
           "` says what is damaged.\n";
  }
  const std::string lifts =
      "`pawl verify " + run + "` checks all of it, and lifts the quarantine if it is sound.\n";
  if (summary.reason.starts_with("loaded ")) {
    return "It was " + summary.reason +
           ": each process that took it up ended before it could go on. That may be for want of "
           "memory, or because something killed it; nothing is known to be damaged.\n" +
           "`pawl resume " + run + "` checks all of it, and goes on if it is sound.\n";
  }
  return "Its journal could not be trusted: " + summary.reason + "\nIt can be read now. " + lifts;
}

}  // namespace

static std::string explain_parents_budget(const RunState& state) {
  if (state.lineage.empty()) return "";
  const std::string& root = state.lineage.front().run.text;
  return fmt::format(
      "It waits for money of the runs above it: pawl budget {} --raise 1.00 (or another of them), "
      "then pawl resume {}\n",
      root, root);
}

std::string explain_budget_wait(const RunState& state) {
  const std::string& run = state.id.text;
  for (const Instance& instance : state.instances) {
    const auto* held = std::get_if<AwaitingBudget>(&instance.phase);
    if (held == nullptr) continue;
    const auto more = [&run](std::string_view option) {
      return fmt::format("It waits for more: pawl budget {} {}, then pawl resume {}\n", run, option,
                         run);
    };
    switch (held->unit) {
      case BudgetUnit::money:
        return more("--raise 1.00");
      case BudgetUnit::tokens:
        return more("--raise-tokens 10000");
      case BudgetUnit::time:
        return more("--raise-time 10m");
      case BudgetUnit::tenant:
        return fmt::format(
            "It waits for its tenant's budget until {}: pawl budget --tenant {} --raise 1.00, "
            "then pawl resume {}\n",
            format_time(held->until_at_ms), state.tenant, run);
      case BudgetUnit::parent:
        return explain_parents_budget(state);
    }
  }
  return "";
}

Result<std::string> explain_run(JournalReader& reader, const RunSummary& summary,
                                const RunState& state, Driven driven,
                                const std::string& quarantine) {
  const bool interrupted = driven == Driven::no && (summary.status == name(RunStatus::running) ||
                                                    summary.status == name(RunStatus::queued));
  const std::string_view standing = interrupted ? "interrupted" : std::string_view(summary.status);
  std::string text = fmt::format("Run {} ({}) is {}.\n", summary.id.text, summary.name,
                                 quarantine.empty() ? standing : "quarantined");
  const bool look_only = quarantine.empty() && summary.reason.starts_with(kLookOnly);
  if (look_only) {
    text += "It was imported and can be looked at; nobody drives it: " +
            summary.reason.substr(kLookOnly.size()) + ".\n";
  } else if (!quarantine.empty() || summary.status == name(RunStatus::quarantined)) {
    return text + explain_quarantine(summary, quarantine);
  }
  switch (status_of(state)) {
    case RunStatus::queued:
    case RunStatus::running:
      text += explain_running(state, driven);
      break;
    case RunStatus::waiting:
      text += explain_wait(reader, state);
      break;
    default:
      text += explain_end(reader, state);
      break;
  }
  return text + explain_permissions(reader, summary.id) + used(state);
}

}  // namespace pawl
