// explain, verify, completion, man: commands that print a text somebody else makes.
#include <algorithm>
#include <cstdint>

#include "pawl/json.h"
#include "pawl/service/housekeeping.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/help.h"

namespace pawl {
namespace {

void print_report(const CliContext& context, const VerifyReport& report, bool lifted) {
  const bool sound = report.damage.empty();
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("run", report.run.text).field("ok", sound);
    json.field("records", report.records).field("blobs", report.blobs);
    json.field("expired", report.expired);
    json.field("chain", to_hex(report.chain)).field("damage", report.damage);
    json.field("quarantine_lifted", lifted).end_object();
    return print(context, json.take() + "\n");
  }
  std::string counts =
      std::to_string(report.records) + " records, " + std::to_string(report.blobs) + " blobs";
  if (report.expired > 0) counts += " (" + std::to_string(report.expired) + " expired)";
  const std::string said = sound ? "sound: " + counts + ", chain " + to_hex(report.chain)
                                 : "DAMAGED after " + counts + ": " + safe_line(report.damage, 400);
  print(context, report.run.text + " " + said + "\n");
  if (!lifted) return;
  print(context, with_data_flag(context, "its quarantine is lifted; go on with: pawl resume " +
                                             report.run.text) +
                     "\n");
}

void print_damaged_store(const CliContext& context, const std::string& damage) {
  if (context.format() != Format::json) {
    return print(context, "store DAMAGED: " + safe_line(damage, 400) + "\n");
  }
  JsonWriter json;
  json.begin_object().field("store", "pawl.db").field("ok", false).field("damage", damage);
  print(context, json.end_object().take() + "\n");
}

enum class Gone { fault, skipped };

int verify_one(const CliContext& context, Workspace& workspace, const RunId& run, Gone gone) {
  Service& service = workspace.service();
  auto report = service.verify(run);
  const bool removed = !report && report.error().code == ErrorCode::not_found;
  if (removed && gone == Gone::skipped) return kExitDone;
  if (!report) return fail(context, report.error());
  bool lifted = false;
  if (report->damage.empty() && !workspace.is_copy()) {
    const auto done = service.lift_quarantine(run);
    if (!done) log(context, LogLevel::warn, "its quarantine stays: " + done.error().message);
    lifted = done && *done;
  }
  if (report->damage.empty()) {
    for (const std::string& one : context.environment.damaged_files(context.settings, run.text)) {
      report->damage += (report->damage.empty() ? "" : "; ") + one;
    }
  }
  print_report(context, *report, lifted);
  return report->damage.empty() ? kExitDone : kExitQuarantined;
}

int verify_all(const CliContext& context, Workspace& workspace) {
  Service& service = workspace.service();
  int worst = kExitDone;
  // Of a store that is damaged the sound runs are shown all the same.
  const Status whole = Housekeeping(service).check();
  if (!whole) {
    worst = kExitQuarantined;
    print_damaged_store(context, whole.error().message);
  }
  const Status listed = service.for_each({}, [&](const RunSummary& run) -> Result<bool> {
    worst = std::max(worst, verify_one(context, workspace, run.id, Gone::skipped));
    return true;
  });
  return listed ? worst : fail(context, listed.error());
}

int command_verify(const CliContext& context) {
  const bool all = context.arguments.has("all");
  if (all == context.arguments.has("RUN")) {
    return fail(context, {ErrorCode::invalid_argument, "verify takes either a RUN or --all"});
  }
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  if (all) return verify_all(context, *opened.workspace);
  const auto run = named_run(context, service);
  return run ? verify_one(context, *opened.workspace, *run, Gone::fault)
             : fail(context, run.error());
}

int command_explain(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  const auto run = named_run(context, service);
  if (!run) return fail(context, run.error());
  const auto text = service.explain(*run);
  if (!text) return fail(context, text.error());
  const std::string& limits = context.settings.limits;
  const std::string told =
      with_data_flag(context, safe_text(*text + (limits.empty() ? "" : "Policy: " + limits)));
  if (context.format() == Format::text) {
    print(context, told);
    return kExitDone;
  }
  JsonWriter json;
  json.begin_object().field("run", run->text).field("explanation", told).end_object();
  print(context, json.take() + "\n");
  return kExitDone;
}

int command_completion(const CliContext& context) {
  const auto script = completion_script(context.arguments.one_or("SHELL", ""));
  if (!script) return fail(context, script.error());
  print(context, *script);
  return kExitDone;
}

int command_man(const CliContext& context) {
  print(context, man_page());
  return kExitDone;
}

}  // namespace

CommandEntry verify_entry() {
  return {
      .name = "verify",
      .summary = "Check everything stored of a run against its hashes",
      .text =
          "Also the files that came with it (--file) and kept output of its tools. A quarantine of "
          "a run that is "
          "sound is lifted.",
      .arguments = {{"RUN", "The run to check.", Need::optional}},
      .options = {{"all", '\0', Takes::nothing, "", "Check every run."}},
      .run = command_verify,
  };
}

CommandEntry explain_entry() {
  return {
      .name = "explain",
      .summary = "Say why a run is where it is",
      .arguments = {kRunArgument},
      .run = command_explain,
  };
}

CommandEntry completion_entry() {
  return {
      .name = "completion",
      .summary = "Print a completion script",
      .text = "Bash: source <(pawl completion bash).",
      .arguments = {{"SHELL", "bash, zsh or fish."}},
      .settings = SettingsUse::unused,
      .run = command_completion,
  };
}

CommandEntry man_entry() {
  return {
      .name = "man",
      .summary = "Print the manual page",
      .text = "As in: pawl man | man -l -",
      .settings = SettingsUse::unused,
      .run = command_man,
  };
}

}  // namespace pawl
