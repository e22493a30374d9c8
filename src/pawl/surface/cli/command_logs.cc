// logs, attach: commands that follow a run by its journal, whoever drives it.
#include <fmt/format.h>

#include "pawl/journal/event_json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/conversation.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/paced_view.h"

namespace pawl {
namespace {

// A run that waits may go on at once, when somebody had written to it: so long it is still
// followed.
constexpr std::int64_t kSettleMs = 400;
constexpr std::size_t kBodyColumns = 300;

std::string log_line(const RecordView& view, Narrator& narrator) {
  std::string body;
  for (const StoryLine& line : narrator.tell(view)) {
    const std::size_t from = line.text.find_first_not_of(' ');
    if (from == std::string::npos) continue;
    body += (body.empty() ? "" : " · ") + line.text.substr(from);
  }
  if (std::holds_alternative<RunFinished>(view.record.event)) {
    body = fmt::format("{} ({})", name(view.status), name(view.reason));
  } else if (std::holds_alternative<RunWaiting>(view.record.event)) {
    body = fmt::format("waiting ({})", name(view.wait));
  }
  return fmt::format("{:>5} {} step {:<3} {:<18} {}\n", view.record.seq,
                     format_time(view.record.stamp.at_ms), view.step, name(view.record.event),
                     safe_line(body, kBodyColumns));
}

// Prints events as `logs` does.
class LogPrinter final : public RunView {
 public:
  LogPrinter(const CliContext& context, Service& service)
      : context_(context),
        service_(service),
        narrator_(make_narrator(service, nullptr, Narrator::Turns::told)) {}

  void on_event(const RunEvent& event) override {
    if (const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event)) tell(**view);
  }
  void note(const std::string& text) override { print_stderr(context_, text); }
  void finish(const RecordView*) override {}

 private:
  void tell(const RecordView& view) {
    if (context_.format() == Format::text) return print(context_, log_line(view, narrator_));
    FinalFields fields;
    const bool final = std::holds_alternative<RunFinished>(view.record.event) ||
                       std::holds_alternative<RunWaiting>(view.record.event);
    if (final) fields.output = readable_output(context_, service_, view);
    print(context_, event_json(view, final ? &fields : nullptr) + "\n");
  }

  const CliContext& context_;
  Service& service_;
  Narrator narrator_;
};

// What the run is at its last event; `settled` once that has not changed for a while.
struct Following {
  std::shared_ptr<const RecordView> last;
  std::optional<Result<WatchEnd>> ended;
  bool settled = false;
  std::unique_ptr<Timer> timer;
};

void await_settling(Loop& loop, Following& following) {
  following.timer.reset();
  if (!std::holds_alternative<RunWaiting>(following.last->record.event)) return;
  following.timer = loop.after(kSettleMs, [&following] { following.settled = true; });
}

void complain_undriven(const CliContext& context, const RunId& run) {
  print_stderr(context, with_data_flag(context, "nobody drives this run; `pawl resume " + run.text +
                                                    "` carries it on"));
}

int command_logs(const CliContext& context) {
  std::uint64_t from = 0;
  if (const auto given = context.arguments.one("from"); given && *given != "0") {
    const auto parsed = parse_count("from", *given);
    if (!parsed) return fail(context, parsed.error());
    from = *parsed;
  }
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  Service& service = opened.workspace->service();
  const auto run = named_run(context, service);
  if (!run) return fail(context, run.error());
  const auto follow = context.arguments.has("follow") ? Service::Follow::yes : Service::Follow::no;
  LogPrinter printer(context, service);
  // What was asked for is given as slowly as it is read; only what is to come is not waited with.
  std::optional<PacedView> paced;
  if (follow == Service::Follow::yes) paced.emplace(context, *opened.workspace, printer);
  std::optional<Result<WatchEnd>> ended;
  const auto watch = service.watch(
      *run, from, follow,
      [&](const std::shared_ptr<const RecordView>& view) {
        if (paced) return paced->on_event(view);
        printer.on_event(view);
      },
      [&](const Result<WatchEnd>& end) { ended = end; });
  opened.workspace->loop().run_until([&] { return ended.has_value(); });
  if (paced) paced->finish(nullptr, [] { return false; });
  if (!*ended) return fail(context, ended->error());
  if (**ended == WatchEnd::undriven) complain_undriven(context, *run);
  return kExitDone;
}

}  // namespace

int attach_to(const CliContext& context, Workspace& workspace, const RunId& run) {
  Service& service = workspace.service();
  const auto view = make_view(context, workspace, nullptr);
  PacedView paced(context, workspace, *view);
  MainLoop& loop = workspace.loop();
  Following following;
  const auto watch = service.watch(
      run, 0, Service::Follow::yes,
      [&](const std::shared_ptr<const RecordView>& record) {
        following.last = record;
        paced.on_event(record);
        await_settling(loop, following);
      },
      [&](const Result<WatchEnd>& end) { following.ended = end; });
  loop.run_until([&] { return following.ended || following.settled; });
  const bool readable = !following.ended || *following.ended;
  const bool undriven = following.ended && readable && **following.ended == WatchEnd::undriven;
  paced.finish(readable && !undriven ? following.last.get() : nullptr, [] { return false; });
  if (!readable) return fail(context, following.ended->error());
  if (undriven) {
    complain_undriven(context, run);
    return kExitError;
  }
  return following.last ? exit_code_of(following.last->status) : kExitError;
}

namespace {

int command_attach(const CliContext& context) {
  const Opened opened = open_workspace(context, IfAbsent::look);
  if (!opened.workspace) return opened.exit_code;
  const auto run = named_run(context, opened.workspace->service());
  return run ? attach_to(context, *opened.workspace, *run) : fail(context, run.error());
}

}  // namespace

CommandEntry logs_entry() {
  return {
      .name = "logs",
      .summary = "Print the events of a run",
      .arguments = {kRunArgument},
      .options = {{"follow", 'f', Takes::nothing, "",
                   "Go on with those to come, until the run is over."},
                  {"from", '\0', Takes::value, "SEQ", "Begin at this event."}},
      .run = command_logs,
  };
}

CommandEntry attach_entry() {
  return {
      .name = "attach",
      .summary = "Watch a run that is driven elsewhere",
      .text =
          "Shows it from its first event, and follows it until it ends or waits. Ctrl-C stops the "
          "watching, not the run.",
      .arguments = {kRunArgument},
      .run = command_attach,
  };
}

}  // namespace pawl
