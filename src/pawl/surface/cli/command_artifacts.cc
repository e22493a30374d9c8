// artifacts: long outputs of tools, listed and read.
#include <fmt/format.h>

#include "pawl/journal/event_json.h"
#include "pawl/json.h"
#include "pawl/port/journal_checks.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

std::string told(const Artifact& one) {
  const std::string state = one.expired_at_ms ? "expired on " + day_of(*one.expired_at_ms) : "kept";
  return fmt::format("{} {:<5} {} {:>10} {}\n", to_hex(one.digest), to_string(one.call),
                     format_time(one.at_ms), one.bytes, state);
}

std::string as_json(const Artifact& one) {
  JsonWriter json;
  json.begin_object().field("sha256", to_hex(one.digest)).field("call", to_string(one.call));
  json.field("seq", one.seq).field("at", format_time(one.at_ms)).field("bytes", one.bytes);
  json.field("needed", one.need == Artifact::Need::kept).key("expired");
  if (one.expired_at_ms) {
    json.string(format_time(*one.expired_at_ms));
  } else {
    json.null();
  }
  return json.end_object().take() + "\n";
}

Result<Artifact> find_artifact(const std::vector<Artifact>& artifacts, const std::string& prefix) {
  const Artifact* found = nullptr;
  for (const Artifact& one : artifacts) {
    if (!to_hex(one.digest).starts_with(prefix)) continue;
    if (found != nullptr) {
      return Error{ErrorCode::conflict, "several outputs have a digest that starts with " + prefix};
    }
    found = &one;
  }
  if (found != nullptr) return *found;
  return Error{ErrorCode::not_found, "no output has a digest that starts with " + prefix};
}

// Its digest is checked by whoever reads it. To a terminal nothing is written that it would obey.
Status give(const CliContext& context, const Service& service, const RunId& run,
            const Artifact& artifact) {
  PAWL_TRY(const std::string bytes, service.bytes_of(run, artifact));
  if (const auto path = context.arguments.one("output")) {
    PAWL_TRY(const auto file, context.environment.create_file(*path));
    PAWL_CHECK(file->write(bytes));
    return file->finish();
  }
  Console& console = context.console();
  console.write(Stream::out, console.is_terminal(Stream::out) ? safe_text(bytes) : bytes);
  return ok();
}

int command_artifacts(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  const auto run = named_run(context, service);
  if (!run) return fail(context, run.error());
  const auto artifacts = service.artifacts(*run);
  if (!artifacts) return fail(context, artifacts.error());
  if (const auto prefix = context.arguments.one("DIGEST")) {
    const auto found = find_artifact(*artifacts, *prefix);
    if (!found) return fail(context, found.error());
    const Status given = give(context, service, *run, *found);
    return given ? kExitDone : fail(context, given.error());
  }
  for (const Artifact& one : *artifacts) {
    print(context, context.format() == Format::json ? as_json(one) : told(one));
  }
  return kExitDone;
}

}  // namespace

CommandEntry artifacts_entry() {
  return {
      .name = "artifacts",
      .summary = "List long outputs of a run's tools, or read one",
      .text =
          "Results of more than 4 KiB are kept beside the journal, by their SHA-256. A DIGEST "
          "checks one and writes it to standard output, or to a new file. What pawl gc has let go "
          "says when.",
      .arguments = {kRunArgument,
                    {"DIGEST", "The digest of an output, or any unique prefix of it.",
                     Need::optional}},
      .options = {{"output", 'o', Takes::value, "FILE",
                   "Write to this file, which must not exist."}},
      .run = command_artifacts,
  };
}

}  // namespace pawl
