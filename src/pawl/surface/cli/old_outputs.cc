#include "pawl/surface/cli/old_outputs.h"

#include <fmt/format.h>

#include "pawl/json.h"
#include "pawl/surface/cli/waiting.h"

namespace pawl {
namespace {

struct Amount {
  std::uint64_t outputs = 0;
  std::uint64_t bytes = 0;
};

void print_old(const CliContext& context, const RunSummary& run, const Amount& amount, Dry dry) {
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("run", run.id.text).field("artifacts", amount.outputs);
    json.field("bytes", amount.bytes).field("expired", dry == Dry::no).end_object();
    return print(context, json.take() + "\n");
  }
  const std::string what =
      fmt::format("{} output{} of {}", amount.outputs, amount.outputs == 1 ? "" : "s", run.id.text);
  print(context, dry == Dry::yes
                     ? fmt::format("would let {} expire ({} bytes)\n", what, amount.bytes)
                     : fmt::format("let {} expire ({} bytes)\n", what, amount.bytes));
}

// A run that may go on can still ask for its files.
FileTally old_files(const CliContext& context, const RunSummary& run, std::int64_t before_ms,
                    Dry dry) {
  if (!is_over(run)) return {};
  return context.environment.old_outputs(context.settings, run.id.text, before_ms,
                                         dry == Dry::yes ? OldFiles::counted : OldFiles::removed);
}

Status expire(Workspace& workspace, const OldArtifacts& old) {
  if (old.blobs.empty()) return ok();
  Housekeeping housekeeping(workspace.service());
  return wait_for<Status>(workspace.loop(),
                          [&](StatusCallback done) { housekeeping.expire(old, std::move(done)); });
}

}  // namespace

ExpiryTally expire_outputs(const CliContext& context, Workspace& workspace,
                           const ArtifactRules& rules, const std::set<RunId>& removed, Dry dry) {
  ExpiryTally tally;
  const std::int64_t before_ms = workspace.loop().wall_ms() - rules.older_than_ms;
  const auto found = Housekeeping(workspace.service()).choose_artifacts(rules);
  if (!found) return {0, 0, fail(context, found.error())};
  for (const OldArtifacts& old : *found) {
    if (removed.contains(old.summary.id)) continue;
    Status status = old.fault ? Status(*old.fault) : ok();
    if (status && dry == Dry::no) status = expire(workspace, old);
    if (!status) {
      tally.exit_code = fail(context, status.error());
      continue;
    }
    const FileTally files = old_files(context, old.summary, before_ms, dry);
    const Amount amount{old.blobs.size() + files.files, old.bytes + files.bytes};
    if (amount.outputs == 0) continue;
    tally.outputs += amount.outputs;
    ++tally.runs;
    print_old(context, old.summary, amount, dry);
  }
  return tally;
}

}  // namespace pawl
