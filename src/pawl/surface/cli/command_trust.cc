// trust: a person says that a file which an agent may have written is as it should be.
#include "pawl/journal/event_json.h"
#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::size_t kPathColumns = 400;

int list_files(const CliContext& context) {
  const auto rows = context.environment.trusted_files();
  if (!rows) return fail(context, rows.error());
  for (const TrustedRow& row : *rows) {
    if (context.format() == Format::json) {
      JsonWriter json;
      json.begin_object().field("file", row.path).field("sha256", row.digest);
      json.field("at_ms", row.at_ms).field("changed_by", row.changed_by).end_object();
      print(context, json.take() + "\n");
      continue;
    }
    const std::string state =
        row.changed_by.empty() ? "trusted" : "changed by " + safe_line(row.changed_by, 80);
    print(context, row.digest.substr(0, 12) + "  " + format_time(row.at_ms) + "  " +
                       safe_line(row.path, kPathColumns) + "  " + state + "\n");
  }
  return kExitDone;
}

int trust_one(const CliContext& context, const std::string& path) {
  const auto question = context.environment.question_about(path);
  if (!question) return fail(context, question.error());
  if (context.format() == Format::text) print(context, question->change);
  const Status trusted = context.environment.trust_file(*question);
  if (!trusted) return fail(context, trusted.error());
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("trusted", question->path).field("sha256", question->digest);
    print(context, json.end_object().take() + "\n");
  } else {
    print(context, "trusted: " + safe_line(question->path, kPathColumns) + " (sha256 " +
                       question->digest + ")\n");
  }
  return kExitDone;
}

int command_trust(const CliContext& context) {
  const auto file = context.arguments.one("FILE");
  const bool list = context.arguments.has("list");
  if (list == file.has_value()) {
    return fail(context, {ErrorCode::invalid_argument, "name a FILE, or say --list"});
  }
  return list ? list_files(context) : trust_one(context, *file);
}

}  // namespace

CommandEntry trust_entry() {
  return {
      .name = "trust",
      .summary = "Trust a charter, policy or script that an agent may have written",
      .text =
          "A file that changed while a session could write there is not read or run by pawl run, "
          "resume and validate until a person has looked at it. Shows what changed in FILE and "
          "records that it is trusted as it is now.",
      .arguments = {{"FILE", "A charter, a policy, a script or a program.", Need::optional}},
      .options = {{"list", '\0', Takes::nothing, "",
                   "List the files that are known, and change nothing."}},
      .settings = SettingsUse::unused,
      .run = command_trust,
  };
}

}  // namespace pawl
