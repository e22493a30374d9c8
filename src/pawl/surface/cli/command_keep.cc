// rm, gc, backup: what is kept, and where.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "pawl/base/json.h"
#include "pawl/runtime/housekeeping.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::size_t kRemovedAtOnce = 64;

// Calls `begin` with a callback and waits for it.
template <class Answer, class Begin>
Answer wait_for(AsioLoop& loop, const Begin& begin) {
  std::optional<Answer> answer;
  begin([&](Answer given) { answer = std::move(given); });
  loop.run_until([&] { return answer.has_value(); });
  return *std::move(answer);
}

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

enum class Dry : std::uint8_t { no, yes };

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

void print_total(const CliContext& context, std::size_t runs, std::uint64_t bytes, Dry dry) {
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("runs", runs).field("bytes_returned", bytes);
    json.field("dry_run", dry == Dry::yes).end_object();
    return print(context, json.take() + "\n");
  }
  const std::string_view plural = runs == 1 ? "" : "s";
  print(context, dry == Dry::yes
                     ? fmt::format("would remove {} run{}\n", runs, plural)
                     : fmt::format("removed {} run{}; {} bytes returned\n", runs, plural, bytes));
}

Result<KeepRules> rules_of(const Arguments& arguments) {
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
  if (rules.older_than_ms || rules.keep || rules.bytes_max) return rules;
  return Error{ErrorCode::invalid_argument,
               "gc removes nothing by itself; say --older-than AGE, --keep N or --max-size SIZE"};
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

// Removes them, says so, and gives the space back. What was driven in the meantime, or removed by
// somebody else, is complained about and does not keep the others.
int remove_all(Desk& desk, const std::vector<StoredRun>& runs, Force force) {
  int code = kExitDone;
  std::size_t removed = 0;
  for (std::size_t from = 0; from < runs.size(); from += kRemovedAtOnce) {
    const auto some = std::span(runs).subspan(from, std::min(kRemovedAtOnce, runs.size() - from));
    const std::vector<Status> answers = desk.remove(some, force);
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!answers[i]) {
        code = fail(desk.context, answers[i].error());
        continue;
      }
      ++removed;
      desk.context.environment.remove_files(desk.context.settings, some[i].summary.id.text);
      print_run(desk.context, some[i], Dry::no);
    }
  }
  const auto bytes = desk.compact();
  if (!bytes) return fail(desk.context, bytes.error());
  print_total(desk.context, removed, *bytes, Dry::no);
  return code;
}

}  // namespace

int command_rm(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  auto runs = named_runs(context, service);
  if (!runs) return fail(context, runs.error());
  Desk desk{context, *opened.workspace, Housekeeping(service)};
  return remove_all(desk, *runs, context.arguments.has("force") ? Force::yes : Force::no);
}

int command_gc(const CliContext& context) {
  const auto rules = rules_of(context.arguments);
  if (!rules) return fail(context, rules.error());
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  Desk desk{context, *opened.workspace, Housekeeping(opened.workspace->service())};
  const auto runs = desk.housekeeping.choose(*rules);
  if (!runs) return fail(context, runs.error());
  if (!context.arguments.has("dry-run")) return remove_all(desk, *runs, rules->force);
  for (const StoredRun& run : *runs) print_run(context, run, Dry::yes);
  print_total(context, runs->size(), 0, Dry::yes);
  return kExitDone;
}

int command_backup(const CliContext& context) {
  const std::string target = context.arguments.one_or("DIR", "");
  if (target.empty()) {
    return fail(context, {ErrorCode::invalid_argument, "DIR is a directory that is not there yet"});
  }
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  Housekeeping housekeeping(opened.workspace->service());
  const Status copied = wait_for<Status>(opened.workspace->loop(), [&](StatusCallback done) {
    housekeeping.backup(target, std::move(done));
  });
  if (!copied) return fail(context, copied.error());
  if (context.format() == Format::json) {
    print(context, JsonWriter().begin_object().field("backup", target).end_object().take() + "\n");
    return kExitDone;
  }
  const std::string quoted = shell_quoted(target);
  print(context, fmt::format("copied to {0}; check it with: pawl --data {0} verify --all\n",
                             safe_line(quoted, 400)));
  return kExitDone;
}

}  // namespace pawl
