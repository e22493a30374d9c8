// replay: makes the decisions of a run again and compares.
#include <fmt/format.h>

#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::size_t kValueColumns = 300;

std::string shown_value(const std::string& json) {
  return json.empty() ? "(nothing)" : safe_line(json, kValueColumns);
}

std::string told(const ReplayReport& report) {
  const std::string& run = report.run.text;
  if (report.difference) {
    const ReplayDifference& found = *report.difference;
    return fmt::format("{} DIFFERS at record {} ({}), {}\n  recorded  {}\n  decided   {}\n", run,
                       found.seq, found.event, found.path, shown_value(found.recorded),
                       shown_value(found.decided));
  }
  if (!report.damage.empty()) {
    return fmt::format("{} DAMAGED after {} records that replay the same: {}\n", run,
                       report.records, safe_line(report.damage, 400));
  }
  const std::string expired =
      report.expired > 0 ? fmt::format(" ({} expired)", report.expired) : "";
  std::string text = fmt::format("{} the same: {} records, {} blobs{}, chain {}\n", run,
                                 report.records, report.blobs, expired, to_hex(report.chain));
  switch (report.lineage) {
    case Lineage::no_fork:
      return text;
    case Lineage::confirmed:
      return text + "It is a fork, and the run it comes from confirms it.\n";
    case Lineage::parent_absent:
      return text + "It is a fork; the run it comes from is not here.\n";
    case Lineage::contradicted:
      return text + "It says it is a fork, but the run it names has another history.\n";
  }
  return text;
}

std::string as_json(const ReplayReport& report) {
  JsonWriter json;
  json.begin_object().field("run", report.run.text).field("same", report.same());
  json.field("records", report.records).field("blobs", report.blobs);
  json.field("expired", report.expired);
  json.field("chain", to_hex(report.chain)).field("damage", report.damage);
  json.field("lineage", name(report.lineage)).key("difference");
  if (report.difference) {
    const ReplayDifference& found = *report.difference;
    json.begin_object().field("seq", found.seq).field("type", found.event);
    json.field("path", found.path).field("recorded", found.recorded);
    json.field("decided", found.decided).end_object();
  } else {
    json.null();
  }
  return json.end_object().take() + "\n";
}

int command_replay(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  const auto run = named_run(context, service);
  if (!run) return fail(context, run.error());
  const auto report = service.replay(*run);
  if (!report) return fail(context, report.error());
  print(context, context.format() == Format::json ? as_json(*report) : told(*report));
  return report->same() ? kExitDone : kExitError;
}

}  // namespace

CommandEntry replay_entry() {
  return {
      .name = "replay",
      .summary = "Make every decision of a run again, offline, and compare",
      .text =
          "No model and no tool is called, nothing is written. Ends with the same chain hash, or "
          "names the first record that this version would have written otherwise. The exit code is "
          "1 when something differs or is damaged.",
      .arguments = {kRunArgument},
      .run = command_replay,
  };
}

}  // namespace pawl
