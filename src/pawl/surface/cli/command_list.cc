// ls, show.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "pawl/journal/event_json.h"
#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::size_t kNameColumns = 24;
constexpr std::size_t kRunsShown = 1'000;  // by `ls`, unless it is told otherwise
constexpr double kMsPerSecond = 1000.0;

constexpr std::string_view kInterrupted = "interrupted";

// A run of the list, and whether some live process drives it.
struct Listed {
  RunSummary summary;
  bool driven = false;
  std::optional<Ancestor> parent = {};  // that started it
};

// What people are told. The journal's word stays "running": nobody was there to write another.
std::string status_shown(const RunSummary& run, bool driven) {
  if (!driven && is_under_way(run)) return std::string(kInterrupted);
  return run.status;
}

void put_summary(JsonWriter& json, const RunSummary& run, bool driven) {
  json.field("run", run.id.text).field("name", run.name).field("status", run.status);
  json.field("reason", run.reason).field("driven", driven);
  json.field("created_at", format_time(run.created_at_ms));
  json.field("updated_at", format_time(run.updated_at_ms)).field("events", run.length);
}

std::string list_line(const Listed& listed) {
  const RunSummary& run = listed.summary;
  std::string status = status_shown(run, listed.driven);
  if (!run.reason.empty()) status += " (" + safe_line(run.reason, 60) + ")";
  return fmt::format("{:<22} {:<24} {:<24} {:<28} {}\n", run.id.text,
                     safe_line(run.name, kNameColumns), format_time(run.created_at_ms), status,
                     run.length);
}

Status check_status_word(const std::string& word) {
  static constexpr std::array<RunStatus, 8> kAll = {
      RunStatus::queued,  RunStatus::running, RunStatus::waiting,   RunStatus::done,
      RunStatus::stopped, RunStatus::failed,  RunStatus::cancelled, RunStatus::quarantined};
  if (word == kInterrupted) return ok();
  std::string known;
  for (const RunStatus status : kAll) {
    if (word == name(status)) return ok();
    known += " " + std::string(name(status));
  }
  return Error{ErrorCode::invalid_argument, "there is no status " + pawl::quoted(word) +
                                                "; there is" + known + " " +
                                                std::string(kInterrupted)};
}

// "interrupted" is no status of the store's: it is a running one that nobody drives.
Status visit_listed(Service& service, const std::string& word,
                    const std::function<bool(const Listed&)>& visit) {
  ListQuery query;
  query.status = word == kInterrupted ? name(RunStatus::running) : word;
  return service.for_each(query, [&](const RunSummary& run) -> Result<bool> {
    Listed listed{run, false};
    const auto driven = service.is_driven(listed.summary);
    if (!driven && driven.error().code == ErrorCode::not_found) return true;  // removed since
    if (!driven) return driven.error();
    listed.driven = *driven;
    if (const auto parent = service.parent_of(run.id)) listed.parent = *parent;
    const bool wanted =
        word != kInterrupted || status_shown(listed.summary, listed.driven) == kInterrupted;
    return !wanted || visit(listed);
  });
}

std::string json_line(const Listed& run) {
  JsonWriter json;
  json.begin_object();
  put_summary(json, run.summary, run.driven);
  return json.end_object().take() + "\n";
}

std::string tree_line(const Listed& run) {
  JsonWriter json;
  json.begin_object();
  put_summary(json, run.summary, run.driven);
  for (const std::string_view key : {"parent", "call", "agent"}) {
    json.key(key);
    if (!run.parent) {
      json.null();
    } else if (key == "call") {
      json.string(to_string(run.parent->call));
    } else {
      json.string(key == "agent" ? run.parent->agent : run.parent->run.text);
    }
  }
  return json.end_object().take() + "\n";
}

// Runs with those that they have started below them.
class ListedTree {
 public:
  explicit ListedTree(Format format) : format_(format) {}

  // The newest first. One whose parent is not listed stands by itself.
  void add(Listed run) {
    listed_.insert(run.summary.id);
    all_.push_back(std::move(run));
  }
  // The number of those that stand by themselves; no more than `roots_max` of them are shown.
  std::size_t put(std::size_t roots_max, std::string& text) {
    std::vector<const Listed*> roots;
    for (const Listed& run : all_) {
      const bool beneath = run.parent && listed_.contains(run.parent->run);
      (beneath ? beneath_[run.parent->run] : roots).push_back(&run);
    }
    for (std::size_t i = 0; i < roots.size() && i < roots_max; ++i) put(*roots[i], 0, text);
    return roots.size();
  }

 private:
  void put(const Listed& run, std::size_t depth, std::string& text) const {
    const std::string indent(2 * depth, ' ');
    text += format_ == Format::text ? indent + list_line(run) : tree_line(run);
    const auto found = beneath_.find(run.summary.id);
    if (found == beneath_.end() || depth >= kLineageMax) return;
    for (auto it = found->second.rbegin(); it != found->second.rend(); ++it) {
      put(**it, depth + 1, text);
    }
  }

  Format format_;
  std::vector<Listed> all_;
  std::set<RunId> listed_;
  std::map<RunId, std::vector<const Listed*>> beneath_;
};

// How many runs `ls` shows: --limit, --all, or kRunsShown.
Result<std::size_t> shown_max(const CliContext& context) {
  const auto limit = context.arguments.one("limit");
  if (context.arguments.has("all")) {
    if (limit) return Error{ErrorCode::invalid_argument, "say either --limit or --all"};
    return SIZE_MAX;
  }
  if (!limit) return kRunsShown;
  PAWL_TRY(const std::uint64_t number, parse_count("limit", *limit));
  return static_cast<std::size_t>(number);
}

std::string row(std::string_view label, const std::string& value) {
  return fmt::format("{:<12} {}\n", label, value);
}

std::string shown_usage(const RunState& state) {
  const Tally& tally = state.tally;
  return fmt::format(
      "{} of {} steps, {} of {} model calls, {} of {} tool calls, {} of {} tokens, "
      "{:.1f} of {:.0f} s, {}",
      tally.steps, state.limits.steps, tally.model_calls, state.limits.model_calls,
      tally.tool_calls, state.limits.tool_calls, total_tokens(tally.usage), state.limits.tokens,
      static_cast<double>(tally.active_ms) / kMsPerSecond,
      static_cast<double>(state.limits.time_ms) / kMsPerSecond,
      format_money(tally.cost_pico, state.prices.currency));
}

// How full the root's context is, of the model that is tried next.
struct ContextMeter {
  std::uint64_t tokens = 0;
  std::uint64_t limit = 0;  // 0: not known
};

ContextMeter meter_of(const RunState& state) {
  const Instance* root = find_instance(state, kRootInstance);
  if (root == nullptr) return {};
  const bool known = root->target < state.targets.size();
  return {root->context_tokens, known ? state.targets[root->target].context_tokens : 0};
}

std::string shown_context(const ContextMeter& meter) {
  if (meter.limit == 0) return fmt::format("{} tokens", meter.tokens);
  const double percent =
      100.0 * static_cast<double>(meter.tokens) / static_cast<double>(meter.limit);
  return fmt::format("{} of {} tokens ({:.1f} %)", meter.tokens, meter.limit, percent);
}

std::string shown_state(const RunState& state, const std::string& description) {
  std::string text =
      row("charter", safe_line(state.name, 100) + ", sha256 " + to_hex(state.charter_digest));
  if (!description.empty()) text += row("description", safe_line(description, 400));
  text += row("directory", safe_line(state.directory, 200));
  text += row("model", safe_line(state.model, 200));
  if (state.forked_from) {
    text +=
        row("forked from", fmt::format("{}, record {}, chain {}", state.forked_from->run.text,
                                       state.forked_from->seq, to_hex(state.forked_from->chain)));
  }
  text += row("used", shown_usage(state));
  text += row("context", shown_context(meter_of(state)));
  for (const Call& call : state.calls) {
    const std::string_view where =
        std::visit([](const auto& one) { return std::decay_t<decltype(one)>::kName; }, call.state);
    text += row(
        "call " + to_string(call.id),
        fmt::format("{}, {}, key {}", safe_line(call.tool, 100), where, key_of(state, call.id)));
  }
  return text;
}

std::string shown(const RunDetails& details, const std::string& description) {
  const RunSummary& run = details.summary;
  std::string status = status_shown(run, details.driven);
  if (!run.reason.empty()) status += ", " + run.reason;
  std::string text = row("run", run.id.text) + row("status", safe_line(status, 400));
  text += row("started", format_time(run.created_at_ms));
  text += row("changed", format_time(run.updated_at_ms));
  text += row("events", std::to_string(run.length));
  if (!details.quarantine.empty()) {
    return text + row("unreadable", safe_line(details.quarantine, 400));
  }
  text += shown_state(details.state, description);
  if (details.output.empty()) return text;
  return text + "\n" + safe_text(details.output) + (details.output.ends_with('\n') ? "" : "\n");
}

void put_state(JsonWriter& json, const RunDetails& details) {
  const RunState& state = details.state;
  json.field("directory", state.directory).field("model", state.model);
  json.field("charter_digest", to_hex(state.charter_digest)).field("step", state.tally.steps);
  if (const auto& from = state.forked_from) {
    json.key("forked_from").begin_object().field("run", from->run.text).field("seq", from->seq);
    json.field("chain", to_hex(from->chain)).key("edited").begin_array();
    for (const std::string& target : from->edited) json.string(target);
    json.end_array().end_object();
  }
  json.key("usage").begin_object();
  Tally::fields(state.tally, [&json](const char* key, const auto& value) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) json.field(key, value);
  });
  json.field("total_tokens", total_tokens(state.tally.usage));
  json.field("cost", format_money(state.tally.cost_pico, state.prices.currency)).end_object();
  const ContextMeter meter = meter_of(state);
  json.key("context").begin_object().field("tokens", meter.tokens).field("limit", meter.limit);
  json.end_object();
  json.key("limits").begin_object();
  Limits::fields(state.limits,
                 [&json](const char* key, const auto& value) { json.field(key, value); });
  json.end_object();
  json.key("calls").begin_array();
  for (const Call& call : state.calls) {
    json.begin_object().field("call", to_string(call.id)).field("tool", call.tool);
    json.field(
        "state",
        std::visit([](const auto& one) { return std::decay_t<decltype(one)>::kName; }, call.state));
    json.field("key", key_of(state, call.id)).end_object();
  }
  json.end_array();
  json.field("output", details.output);
}

int list_tree(const CliContext& context, Workspace& workspace, const std::string& word,
              std::size_t limit) {
  ListedTree tree(context.format());
  const Status listed = visit_listed(workspace.service(), word, [&](const Listed& run) {
    tree.add(run);
    return true;
  });
  if (!listed) return fail(context, listed.error());
  std::string text;
  const std::size_t roots = tree.put(limit, text);
  print(context, text);
  if (roots <= limit) return kExitDone;
  print_stderr(context, "only the newest " + std::to_string(limit) +
                            " runs are shown, with those beneath them; --all shows all of them");
  return kExitDone;
}

int command_ls(const CliContext& context) {
  const std::string word = context.arguments.one_or("status", "");
  if (!word.empty()) {
    if (const Status known = check_status_word(word); !known) {
      return fail(context, known.error());
    }
  }
  const auto limit = shown_max(context);
  if (!limit) return fail(context, limit.error());
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  if (context.arguments.has("tree")) return list_tree(context, *opened.workspace, word, *limit);
  std::size_t shown = 0;
  bool more = false;
  const Status listed = visit_listed(opened.workspace->service(), word, [&](const Listed& run) {
    if (run.parent) return true;
    more = shown == *limit;
    if (more) return false;
    ++shown;
    print(context, context.format() == Format::text ? list_line(run) : json_line(run));
    return true;
  });
  if (!listed) return fail(context, listed.error());
  if (more) {
    print_stderr(context, "only the newest " + std::to_string(shown) +
                              " runs are shown; --all shows all of them, --limit N so many");
  }
  return kExitDone;
}

int command_show(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  const auto run = named_run(context, service);
  if (!run) return fail(context, run.error());
  const auto details = service.show(*run);
  if (!details) return fail(context, details.error());
  const auto charter = service.charter_of(*run);
  const std::string description = charter ? context.environment.description_of(*charter) : "";
  if (context.format() == Format::text) {
    print(context, shown(*details, description));
    return kExitDone;
  }
  JsonWriter json;
  json.begin_object();
  put_summary(json, details->summary, details->driven);
  json.field("unreadable", details->quarantine).field("description", description);
  if (details->quarantine.empty()) put_state(json, *details);
  print(context, json.end_object().take() + "\n");
  return kExitDone;
}

}  // namespace

CommandEntry ls_entry() {
  return {
      .name = "ls",
      .summary = "List runs, newest first",
      .options = {{"status", '\0', Takes::value, "S",
                   "Only runs that are queued, running, waiting, done, stopped, failed, cancelled, "
                   "quarantined, or interrupted (running, but nobody drives it).",
                   "queued running waiting done stopped failed cancelled quarantined interrupted"},
                  {"limit", '\0', Takes::value, "N", "Show the newest N. By default 1000."},
                  {"all", '\0', Takes::nothing, "", "Show all, however many."},
                  {"tree", '\0', Takes::nothing, "",
                   "Show the runs that runs have started as their agents, too, below them."}},
      .run = command_ls,
  };
}

CommandEntry show_entry() {
  return {
      .name = "show",
      .summary = "Show a run: where it stands, what it used, what it said",
      .arguments = {kRunArgument},
      .run = command_show,
  };
}

}  // namespace pawl
