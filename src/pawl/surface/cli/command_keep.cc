// rm, gc, backup: what is kept, and where.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "pawl/base/shell_word.h"
#include "pawl/json.h"
#include "pawl/service/housekeeping.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/old_outputs.h"
#include "pawl/surface/cli/waiting.h"

namespace pawl {
namespace {

constexpr std::size_t kRemovedAtOnce = 64;

struct Desk {
  const CliContext& context;
  Workspace& workspace;
  Housekeeping housekeeping;

  // All at once, so that they share transactions. One answer each, in their order.
  std::vector<Status> remove(std::span<const StoredRun> runs, Force force) {
    std::vector<Status> answers(runs.size(), ok());
    std::size_t open = runs.size();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      housekeeping.remove(runs[i].summary.id, force, [&answers, &open, i](const Status& status) {
        answers[i] = status;
        --open;
      });
    }
    workspace.loop().run_until([&open] { return open == 0; });
    return answers;
  }
  Result<std::uint64_t> compact() {
    return wait_for<Result<std::uint64_t>>(workspace.loop(),
                                           [&](std::function<void(Result<std::uint64_t>)> done) {
                                             housekeeping.compact(std::move(done));
                                           });
  }
};

// Sizes are known to gc only: to find them out, the whole store must be read.
void print_run(const CliContext& context, const StoredRun& run, Dry dry) {
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("run", run.summary.id.text).field("status", run.summary.status);
    if (run.bytes > 0) json.field("bytes", run.bytes);
    json.field("removed", dry == Dry::no).end_object();
    return print(context, json.take() + "\n");
  }
  const std::string size = run.bytes > 0 ? fmt::format(", {} bytes", run.bytes) : "";
  print(context, fmt::format("{} {} ({}{})\n", dry == Dry::yes ? "would remove" : "removed",
                             run.summary.id.text, run.summary.status, size));
}

// What was removed or let go; absent: it was not asked for.
struct Totals {
  std::optional<std::uint64_t> runs = {};
  std::optional<std::uint64_t> outputs = {};
  std::uint64_t bytes = 0;
};

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void print_total(const CliContext& context, const Totals& totals, Dry dry) {
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("runs", totals.runs.value_or(0));
    json.field("artifacts", totals.outputs.value_or(0)).field("bytes_returned", totals.bytes);
    json.field("dry_run", dry == Dry::yes).end_object();
    return print(context, json.take() + "\n");
  }
  std::string text;
  if (totals.runs) {
    text += (dry == Dry::yes ? "would remove " : "removed ") + counted(*totals.runs, "run");
  }
  if (totals.outputs) {
    text += (text.empty() ? "" : ", ") + counted(*totals.outputs, "output");
    text += dry == Dry::yes ? " would expire" : " expired";
  }
  if (dry == Dry::no) text += fmt::format("; {} bytes returned", totals.bytes);
  print(context, text + "\n");
}

struct GcRules {
  KeepRules runs;
  std::optional<ArtifactRules> outputs = {};

  bool remove_runs() const { return runs.older_than_ms || runs.keep || runs.bytes_max; }
};

Result<KeepRules> run_rules_of(const Arguments& arguments) {
  KeepRules rules;
  if (const auto age = arguments.one("older-than")) {
    PAWL_TRY(const std::uint64_t age_ms, parse_duration_option("older-than", *age));
    rules.older_than_ms = static_cast<std::int64_t>(age_ms);
  }
  if (const auto keep = arguments.one("keep")) {
    rules.keep = 0;
    if (*keep != "0") {
      PAWL_TRY(rules.keep, parse_count("keep", *keep));
    }
  }
  if (const auto size = arguments.one("max-size")) {
    PAWL_TRY(rules.bytes_max, parse_bytes_option("max-size", *size));
  }
  if (arguments.has("force")) rules.force = Force::yes;
  return rules;
}

Result<GcRules> rules_of(const Arguments& arguments) {
  GcRules rules;
  PAWL_TRY(rules.runs, run_rules_of(arguments));
  if (const auto age = arguments.one("artifacts")) {
    PAWL_TRY(const std::uint64_t age_ms, parse_duration_option("artifacts", *age));
    rules.outputs = ArtifactRules{static_cast<std::int64_t>(age_ms), rules.runs.force};
  }
  if (rules.remove_runs() || rules.outputs) return rules;
  return Error{ErrorCode::invalid_argument,
               "gc needs a rule: pass --older-than AGE, --keep N or --max-size SIZE, "
               "or --artifacts AGE"};
}

Result<std::vector<StoredRun>> named_runs(const CliContext& context, Service& service) {
  std::vector<StoredRun> runs;
  for (const std::string& prefix : context.arguments.many("RUN")) {
    PAWL_TRY(const RunId run, service.find(prefix));
    StoredRun found;
    PAWL_TRY(found.summary, service.summary_of(run));
    runs.push_back(std::move(found));
  }
  return runs;
}

// Removes them and says so. What was driven in the meantime, or removed by somebody else, is
// complained about and does not keep the others.
int remove_all(Desk& desk, const std::vector<StoredRun>& runs, Force force, Totals& totals) {
  int code = kExitDone;
  totals.runs = 0;
  for (std::size_t from = 0; from < runs.size(); from += kRemovedAtOnce) {
    const auto some = std::span(runs).subspan(from, std::min(kRemovedAtOnce, runs.size() - from));
    const std::vector<Status> answers = desk.remove(some, force);
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!answers[i]) {
        code = fail(desk.context, answers[i].error());
        continue;
      }
      ++*totals.runs;
      desk.context.environment.remove_files(desk.context.settings, some[i].summary.id.text);
      print_run(desk.context, some[i], Dry::no);
    }
  }
  return code;
}

// Gives the space back, and says what was done.
int finish(Desk& desk, Totals& totals, int code) {
  const auto bytes = desk.compact();
  if (!bytes) return fail(desk.context, bytes.error());
  totals.bytes = *bytes;
  print_total(desk.context, totals, Dry::no);
  return code;
}

int collect(Desk& desk, const GcRules& rules, const std::vector<StoredRun>& runs, Dry dry) {
  int code = kExitDone;
  Totals totals;
  std::set<RunId> removed;
  if (rules.remove_runs() && dry == Dry::no) {
    code = remove_all(desk, runs, rules.runs.force, totals);
  } else if (rules.remove_runs()) {
    totals.runs = runs.size();
    for (const StoredRun& run : runs) {
      print_run(desk.context, run, Dry::yes);
      removed.insert(run.summary.id);
    }
  }
  if (rules.outputs) {
    const ExpiryTally tally =
        expire_outputs(desk.context, desk.workspace, *rules.outputs, removed, dry);
    totals.outputs = tally.outputs;
    code = std::max(code, tally.exit_code);
  }
  if (dry == Dry::no) return finish(desk, totals, code);
  print_total(desk.context, totals, Dry::yes);
  return code;
}

int command_rm(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  auto runs = named_runs(context, service);
  if (!runs) return fail(context, runs.error());
  Desk desk{context, *opened.workspace, Housekeeping(service)};
  Totals totals;
  const Force force = context.arguments.has("force") ? Force::yes : Force::no;
  const int code = remove_all(desk, *runs, force, totals);
  return finish(desk, totals, code);
}

int command_gc(const CliContext& context) {
  const auto rules = rules_of(context.arguments);
  if (!rules) return fail(context, rules.error());
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  Desk desk{context, *opened.workspace, Housekeeping(opened.workspace->service())};
  std::vector<StoredRun> runs;
  if (rules->remove_runs()) {
    auto chosen = desk.housekeeping.choose(rules->runs);
    if (!chosen) return fail(context, chosen.error());
    runs = *std::move(chosen);
  }
  return collect(desk, *rules, runs, context.arguments.has("dry-run") ? Dry::yes : Dry::no);
}

// What a backup leaves out of this data directory.
static std::vector<std::string> left_out(const std::string& data) {
  std::vector<std::string> names;
  for (const std::string name : {"logs", "taken"}) {
    std::error_code none;
    if (std::filesystem::exists(data + "/" + name, none)) names.push_back(name);
  }
  return names;
}

int command_backup(const CliContext& context) {
  const std::string target = context.arguments.one_or("DIR", "");
  if (target.empty()) {
    return fail(context, {ErrorCode::invalid_argument, "DIR must not exist"});
  }
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  Housekeeping housekeeping(opened.workspace->service());
  const Status copied = wait_for<Status>(opened.workspace->loop(), [&](StatusCallback done) {
    housekeeping.backup(target, std::move(done));
  });
  if (!copied) return fail(context, copied.error());
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("backup", target).key("left_out").begin_array();
    for (const std::string& name : left_out(context.settings.data)) json.string(name);
    print(context, json.end_array().end_object().take() + "\n");
    return kExitDone;
  }
  const std::string quoted = shell_quoted(target);
  print(context, fmt::format("copied to {0}; check it with: pawl --data {0} verify --all\n",
                             safe_line(quoted, 400)));
  for (const std::string& name : left_out(context.settings.data)) {
    print(context,
          fmt::format("left out: {}\n", safe_line(context.settings.data + "/" + name, 400)));
  }
  return kExitDone;
}

}  // namespace

CommandEntry rm_entry() {
  return {
      .name = "rm",
      .summary = "Remove runs with all that is stored of them",
      .text =
          "A run that somebody drives is refused; one that could be carried on needs --force. Its "
          "space is given back to the file system.",
      .arguments = {{"RUN", "The id of a run, or any unique prefix of it.", Need::one_or_more}},
      .options = {{"force", '\0', Takes::nothing, "", "Also runs that wait or were interrupted."}},
      .run = command_rm,
  };
}

CommandEntry gc_entry() {
  return {
      .name = "gc",
      .summary = "Remove old runs by rule",
      .text =
          "A run that is over goes when any of the rules says so; with --artifacts its tools' "
          "outputs go and the run stays. Says what it removed and how many bytes were returned.",
      .options =
          {{"older-than", '\0', Takes::value, "AGE",
            "Runs that have not changed for that long, such as 12h or 30d."},
           {"keep", '\0', Takes::value, "N", "All but the newest N."},
           {"max-size", '\0', Takes::value, "SIZE",
            "The oldest, until all runs together have at most that much, such as 500MB."},
           {"artifacts", '\0', Takes::value, "AGE",
            "Of runs that are over and stay, long outputs of tools that are older than that."},
           {"dry-run", '\0', Takes::nothing, "", "Only say what would be removed."},
           {"force", '\0', Takes::nothing, "",
            "Also runs that wait, were interrupted or are quarantined; never those that somebody "
            "drives. Of outputs, only those that the run does not need to go on."}},
      .run = command_gc,
  };
}

CommandEntry backup_entry() {
  return {
      .name = "backup",
      .summary = "Copy the data directory while runs go on",
      .text =
          "DIR must not be there yet; it appears when the copy is whole and durable, and is a data "
          "directory to look at: nothing is driven in it before `pawl restore` or `pawl doctor "
          "--accept`. It has the runs, budgets, remembered approvals, input files, kept "
          "outputs and commits of sessions that are not published yet. Left out, and said so: logs "
          "of detached runs, and what was taken out of work trees.",
      .arguments = {{"DIR", "The new directory."}},
      .run = command_backup,
  };
}

}  // namespace pawl
