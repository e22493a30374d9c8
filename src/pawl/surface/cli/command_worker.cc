// worker: drives whatever is due on a data directory, until it is told to stop.
#include <csignal>

#include "pawl/json.h"
#include "pawl/service/worker.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/drive.h"

namespace pawl {
namespace {

constexpr std::uint64_t kRunsMax = 1'024;

class WorkerSession {
 public:
  WorkerSession(const CliContext& context, Workspace& workspace, WorkerOptions options)
      : context_(context),
        workspace_(workspace),
        look_ms_(options.look_ms),
        worker_(workspace.service(), options,
                [this](const RunId& run, Due due, const Status& status) {
                  on_taken(run, due, status);
                }) {
    workspace_.service().on_ended(
        [this](const RunId& run, const Status& status) { on_ended(run, status); });
    signals_ = workspace_.loop().on_signals({SIGINT, SIGTERM, SIGHUP}, [this](int) { stop(); });
  }
  ~WorkerSession() { workspace_.service().on_ended({}); }
  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;

  // Once: until nothing is due and everything that was has ended or waits.
  int work(bool once) {
    look();
    workspace_.loop().run_until([&] {
      return failed_ || stopped_ ||
             (once && worker_.is_settled() && workspace_.service().is_idle());
    });
    timer_.reset();
    return failed_ ? fail(context_, failed_->error()) : kExitDone;
  }

 private:
  void look() {
    if (Status looked = worker_.look(); !looked) {
      failed_ = looked;
      return;
    }
    timer_ = workspace_.loop().after(look_ms_, [this] { look(); });
  }

  void stop() {
    if (stopping_) {  // Somebody is in a hurry. The journals are as after a crash.
      stopped_ = true;
      return;
    }
    stopping_ = true;
    print_stderr(context_, "stopping: " + std::to_string(worker_.driven()) +
                               " run(s) park, and go on with the next worker");
    grace_ = workspace_.loop().after(kTerminationGraceMs, [this] { stopped_ = true; });
    worker_.stop(context_.environment.user(), [this] { stopped_ = true; });
  }

  void on_taken(const RunId& run, Due due, const Status& status) {
    if (!status) {
      print_stderr(
          context_,
          with_data_flag(context_, run.text + " cannot be taken up, and is tried again later: " +
                                       status.error().message));
      return;
    }
    say(run, "taken_up", name(due), run.text + " is taken up (" + std::string(name(due)) + ")");
  }

  void on_ended(const RunId& run, const Status& status) {
    const auto now = workspace_.service().summary_of(run);
    const std::string word = !status ? status.error().message : now ? now->status : "gone";
    const std::string why = status && now && !now->reason.empty() ? " (" + now->reason + ")" : "";
    say(run, "let_go", word, run.text + " is " + word + why);
    worker_.on_ended(run, status);
  }

  void say(const RunId& run, std::string_view what, std::string_view why, const std::string& text) {
    if (context_.format() == Format::text) return print(context_, text + "\n");
    JsonWriter json;
    json.begin_object().field("run", run.text).field("what", what).field("why", why).end_object();
    print(context_, json.take() + "\n");
  }

  const CliContext& context_;
  Workspace& workspace_;
  const std::int64_t look_ms_;
  Worker worker_;
  std::optional<Status> failed_;
  bool stopping_ = false;
  bool stopped_ = false;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Timer> grace_;
  std::unique_ptr<MainLoop::Signals> signals_;
};

int command_worker(const CliContext& context) {
  WorkerOptions options;
  if (const auto text = context.arguments.one("runs")) {
    const auto runs = parse_count("runs", *text);
    if (!runs || *runs > kRunsMax) {
      return fail(context, {ErrorCode::invalid_argument, "--runs takes a number from 1 to 1024"});
    }
    options.live_max = static_cast<std::size_t>(*runs);
  }
  const Opened opened = open_workspace(context, IfAbsent::make);
  if (!opened.workspace) return opened.exit_code;
  WorkerSession session(context, *opened.workspace, options);
  return session.work(context.arguments.has("once"));
}

}  // namespace

CommandEntry worker_entry() {
  return {
      .name = "worker",
      .summary = "Drive whatever is due, until it is told to stop",
      .text =
          "Takes up runs whose process is gone, runs that were told or answered something, and "
          "runs "
          "whose time has come, also after the machine was off. Runs that a person paused stay so. "
          "Several workers share a data directory. Ctrl-C or SIGTERM parks what it drives, for the "
          "next worker; a second one leaves at once.",
      .options = {{"once", '\0', Takes::nothing, "", "End when nothing is due any more."},
                  {"runs", '\0', Takes::value, "N",
                   "Drive at most so many at a time. Default: 64."}},
      .run = command_worker,
  };
}

}  // namespace pawl
