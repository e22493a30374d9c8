// export, import: a run as one file.
#include <fmt/format.h>

#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

std::string told(const ExportReport& report) {
  std::string text = fmt::format("run {}: {} records, {} blobs, chain {}", report.run.text,
                                 report.records, report.blobs, to_hex(report.chain));
  if (report.expired > 0) text += fmt::format("; {} blobs had expired", report.expired);
  if (report.redactions > 0) text += fmt::format("; {} secrets replaced", report.redactions);
  if (!report.look_only.empty()) {
    text += "; it can be looked at, not driven (" + safe_line(report.look_only, 200) + ")";
  }
  return text + "\n";
}

std::string as_json(const ExportReport& report) {
  JsonWriter json;
  json.begin_object().field("run", report.run.text).field("records", report.records);
  json.field("blobs", report.blobs).field("redactions", report.redactions);
  json.field("chain", to_hex(report.chain)).field("look_only", report.look_only);
  json.field("expired", report.expired);
  return json.end_object().take() + "\n";
}

ExportOptions options_of(const CliContext& context) {
  ExportOptions options;
  options.program = context.environment.versions().program;
  if (context.arguments.has("no-redact")) {
    options.redaction = ExportOptions::Redaction::off;
  } else {
    options.secrets = context.environment.secrets();
  }
  return options;
}

Result<ExportReport> export_to_file(const CliContext& context, Service& service, const RunId& run,
                                    const std::string& path) {
  PAWL_TRY(const auto file, context.environment.create_file(path));
  PAWL_TRY(ExportReport report,
           service.export_run(run, options_of(context),
                              [&file](std::string_view piece) { return file->write(piece); }));
  PAWL_CHECK(file->finish());
  return report;
}

Result<ExportReport> export_to_output(const CliContext& context, Service& service,
                                      const RunId& run) {
  return service.export_run(run, options_of(context), [&context](std::string_view piece) {
    context.console().write(Stream::out, piece);
    return ok();
  });
}

int command_export(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  const auto run = named_run(context, service);
  if (!run) return fail(context, run.error());
  const auto path = context.arguments.one("output");
  const auto report = path ? export_to_file(context, service, *run, *path)
                           : export_to_output(context, service, *run);
  if (!report) return fail(context, report.error());
  // Where the file itself goes to standard output, nothing else does.
  const std::string text = context.format() == Format::json ? as_json(*report) : told(*report);
  context.console().write(path ? Stream::out : Stream::err, text);
  return kExitDone;
}

int command_import(const CliContext& context) {
  std::optional<RunId> id;
  if (const auto given = context.arguments.one("id")) {
    auto parsed = parse_run_id(*given);
    if (!parsed) return fail(context, parsed.error());
    id = *std::move(parsed);
  }
  const std::string path = context.arguments.one_or("FILE", "");
  auto lines = context.environment.open_lines(path);
  if (!lines) return fail(context, lines.error());
  const Opened opened = open_workspace(context, IfAbsent::make);
  if (!opened.workspace) return opened.exit_code;
  std::optional<Result<ExportReport>> answer;
  opened.workspace->service().import_run(
      std::shared_ptr<LineSource>(*std::move(lines)), id,
      [&answer](Result<ExportReport> report) { answer = std::move(report); });
  opened.workspace->loop().run_until([&answer] { return answer.has_value(); });
  if (!*answer) {
    const Error& error = answer->error();
    const bool about_file = error.code == ErrorCode::invalid_argument;
    return fail(context, {error.code, about_file ? path + ": " + error.message : error.message});
  }
  print(context, context.format() == Format::json ? as_json(**answer) : told(**answer));
  return kExitDone;
}

}  // namespace

CommandEntry export_entry() {
  return {
      .name = "export",
      .summary = "Write a run as one self-contained file",
      .text =
          "To standard output, or to a new file. What looks like a secret is replaced; a run in "
          "which something was replaced can be looked at elsewhere, but not taken up.",
      .arguments = {kRunArgument},
      .options = {{"output", 'o', Takes::value, "FILE",
                   "Write to this file, which must not exist."},
                  {"no-redact", '\0', Takes::nothing, "", "Leave secrets in it."}},
      .run = command_export,
  };
}

CommandEntry import_entry() {
  return {
      .name = "import",
      .summary = "Take in a run that was exported",
      .text =
          "The file is checked whole before anything is written. Nothing is run; pawl resume goes "
          "on with a run that was not over.",
      .arguments = {{"FILE", "A file that pawl export has written."}},
      .options = {{"id", '\0', Takes::value, "ID", "Give the run this id instead of its own."}},
      .run = command_import,
  };
}

}  // namespace pawl
