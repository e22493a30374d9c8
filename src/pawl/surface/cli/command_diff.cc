// diff: where two runs differ.
#include <fmt/format.h>

#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::size_t kValueColumns = 300;

std::string outlined(std::string_view side, const RunOutline& run) {
  const std::string reason = run.reason.empty() ? "" : " (" + run.reason + ")";
  return fmt::format("{} {}: {}{}, {} steps, {} tool calls, {} tokens, {}\n", side, run.run.text,
                     name(run.status), reason, run.tally.steps, run.tally.tool_calls,
                     total_tokens(run.tally.usage),
                     format_money(run.tally.cost_pico, run.currency));
}

std::string shown_value(const std::string& json) {
  return json.empty() ? "(nothing)" : safe_line(json, kValueColumns);
}

std::string seq_text(const std::optional<std::uint64_t>& seq) {
  return seq ? std::to_string(*seq) : "-";
}

std::string told(const RunDifference& found) {
  const std::string call = found.call.empty() ? "" : " " + found.call;
  const std::string byte = found.byte ? ", byte " + std::to_string(*found.byte) : "";
  return fmt::format("step {}, {}{} (record {} | {}), {}{}\n  a  {}\n  b  {}\n", found.step,
                     found.event, call, seq_text(found.seq_a), seq_text(found.seq_b),
                     safe_line(found.path, kValueColumns), byte, shown_value(found.a),
                     shown_value(found.b));
}

std::string verdict(const RunDiff& diff) {
  if (diff.prefix == PrefixOf::a_of_b) return "a is a prefix of b: b goes on where a ends\n";
  if (diff.prefix == PrefixOf::b_of_a) return "b is a prefix of a: a goes on where b ends\n";
  if (diff.same()) return "the same\n";
  const bool all = diff.rest == RunDiff::Rest::compared;
  return fmt::format("{} difference{}{}; the outputs {}\n", diff.differences.size(),
                     diff.differences.size() == 1 ? "" : "s", all ? "" : ", and what follows",
                     diff.outputs == RunDiff::Outputs::same ? "are the same" : "differ");
}

void put_outline(JsonWriter& json, const char* key, const RunOutline& run) {
  json.key(key).begin_object().field("run", run.run.text).field("status", name(run.status));
  json.field("reason", run.reason).field("events", run.records);
  json.field("steps", run.tally.steps).field("tool_calls", run.tally.tool_calls);
  json.field("total_tokens", total_tokens(run.tally.usage));
  json.field("cost", format_money(run.tally.cost_pico, run.currency)).end_object();
}

void put_number(JsonWriter& json, const char* key, const std::optional<std::uint64_t>& value) {
  json.key(key);
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

void put_value(JsonWriter& json, const char* key, const std::string& value) {
  json.key(key);
  if (value.empty()) {
    json.null();
  } else {
    json.raw(value);
  }
}

std::string as_json(const RunDiff& diff) {
  JsonWriter json;
  json.begin_object().field("same", diff.same()).field("prefix", name(diff.prefix));
  json.field("same_output", diff.outputs == RunDiff::Outputs::same);
  json.field("complete", diff.rest == RunDiff::Rest::compared);
  put_outline(json, "a", diff.a);
  put_outline(json, "b", diff.b);
  json.key("differences").begin_array();
  for (const RunDifference& found : diff.differences) {
    json.begin_object().field("step", found.step).field("type", found.event);
    json.field("call", found.call);
    put_number(json, "seq_a", found.seq_a);
    put_number(json, "seq_b", found.seq_b);
    json.field("path", found.path);
    put_number(json, "byte", found.byte);
    put_value(json, "a", found.a);
    put_value(json, "b", found.b);
    json.end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

Result<RunDiff> diff_named(const CliContext& context, Service& service) {
  PAWL_TRY(const RunId a, service.find(context.arguments.one_or("A", "")));
  PAWL_TRY(const RunId b, service.find(context.arguments.one_or("B", "")));
  const bool all = context.arguments.has("all");
  return service.diff(a, b, all ? DiffScope::all : DiffScope::substance);
}

int command_diff(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  const auto diff = diff_named(context, opened.workspace->service());
  if (!diff) return fail(context, diff.error());
  const int code = diff->same() ? kExitDone : kExitError;
  if (context.format() == Format::json) {
    print(context, as_json(*diff));
    return code;
  }
  std::string text = outlined("a", diff->a) + outlined("b", diff->b);
  for (const RunDifference& found : diff->differences) text += told(found);
  print(context, text + verdict(*diff));
  return code;
}

}  // namespace

CommandEntry diff_entry() {
  return {
      .name = "diff",
      .summary = "Say where two runs differ, by step and JSON path",
      .text =
          "What must differ is left out: ids, times, epochs, who drove and paused them, the order "
          "in which calls of one step ended. The exit code is 1 when they differ, also when one is "
          "the beginning of the other.",
      .arguments = {{"A", "A run, or any unique prefix of its id."}, {"B", "Another one."}},
      .options = {{"all", '\0', Takes::nothing, "", "Compare every record in full."}},
      .run = command_diff,
  };
}

}  // namespace pawl
