#include "pawl/adapter/backend/session/session_core.h"

#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "pawl/adapter/backend/session/call_notes.h"
#include "pawl/adapter/backend/session/level_check.h"
#include "pawl/adapter/backend/session/shell_protocol.h"
#include "pawl/port/protected_names.h"

namespace pawl::backend {
namespace {

using Kind = BackendOutcome::Kind;

constexpr std::size_t kTakenNowMax = 16;  // in one call; then it is ended
constexpr std::string_view kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

template <class Number>
void default_if_zero(Number& value, Number otherwise) {
  if (value <= 0) value = otherwise;
}

void complete(BackendLimits& limits) {
  const BackendLimits defaults;
  default_if_zero(limits.time_ms, defaults.time_ms);
  default_if_zero(limits.memory_bytes, defaults.memory_bytes);
  default_if_zero(limits.cpu_ms, defaults.cpu_ms);
  default_if_zero(limits.processes, defaults.processes);
  default_if_zero(limits.disk_bytes, defaults.disk_bytes);
  default_if_zero(limits.output_bytes, defaults.output_bytes);
  default_if_zero(limits.kept_bytes, defaults.kept_bytes);
}

// Where the kernel keeps commands from protected names.
bool holds_names(IsolationLevel level) {
  return level == IsolationLevel::namespaces || level == IsolationLevel::container;
}

// What commands may have done to a name between its replacement and their end; empty: nothing.
std::string harm_in_window(WorkspaceGuard& guard, const std::string& path) {
  if (guard.was_removed(path)) {
    return path +
           " was replaced outside and removed before the session's processes had ended: a command "
           "may have removed it. Save it once more";
  }
  if (!guard.was_written(path)) return {};
  return path +
         " was replaced outside and written again before the session's processes had ended: it may "
         "hold what the agent wrote. Look at it before anything reads or runs it";
}

std::uint64_t brim_of(const BackendLimits& limits) {
  return limits.memory_bytes - limits.memory_bytes / 8;
}

// A host that is root looks at files as the one whom the commands run as, and makes them so: only
// this thread, and only while this object lives. Files of root's are shown to commands as theirs.
class AsOwner {
 public:
  explicit AsOwner(const sandbox::HostIdentity& identity) {
    using Change = sandbox::HostIdentity::Change;
    if (identity.change != Change::drop || identity.user == sandbox::kUnprivilegedId) return;
    changed_ = true;
    ::setfsgid(identity.group);
    ::setfsuid(identity.user);
  }
  AsOwner(const AsOwner&) = delete;
  AsOwner& operator=(const AsOwner&) = delete;
  ~AsOwner() {
    if (!changed_) return;
    ::setfsuid(::geteuid());
    ::setfsgid(::getegid());
  }

 private:
  bool changed_ = false;
};

void set_proxy(std::map<std::string, std::string>& environment) {
  const std::string proxy = "http://127.0.0.1:" + std::to_string(sandbox::kProxyPort);
  for (const char* name :
       {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"}) {
    environment[name] = proxy;
  }
  for (const char* name : {"NO_PROXY", "no_proxy"}) environment[name] = "localhost,127.0.0.1";
}

}  // namespace

Result<std::shared_ptr<SessionCore>> SessionCore::open(ExecutionContext context,
                                                       IsolationLevel level,
                                                       const BackendOptions& options,
                                                       std::optional<ContainerEngine> wanted) {
  complete(context.limits);
  PAWL_CHECK(tool_command::check_ends_are_told());
  PAWL_CHECK(check_level(context, level, options.connect_proxy ? HasProxy::yes : HasProxy::no));
  std::shared_ptr<SessionCore> core(new SessionCore(std::move(context), level));
  core->connect_ = options.connect_proxy;
  core->notice_ = options.notice;
  if (level == IsolationLevel::container) {
    PAWL_TRY(core->engine_, find_engine(wanted));
    sweep_containers(core->engine_);
  }
  PAWL_TRY(core->files_, options.open_files(core->context_));
  if (holds_names(level)) {
    // From here on .git is what commands may use.
    std::erase(core->context_.protected_names, kGitName);
    PAWL_TRY(core->git_, git::SessionGit::open(core->context_));
  }
  PAWL_CHECK(core->set_up());
  return core;
}

// Also again, when the host has replaced what a mount was on. Nothing of the session runs.
Status SessionCore::set_up() {
  if (guard_) {  // since the last look, while jobs still ran
    for (const std::string& path : guard_->replaced()) remarks_ += told_harm(path);
    harm_told_.clear();
  }
  PAWL_TRY(plan_, sandbox::make_sandbox_plan(context_, level_, plan_.held));
  if (git_) {
    plan_.mounts = git_->mounts();
    std::ranges::copy(git_->protected_places(), std::back_inserter(plan_.protected_places));
  }
  std::unique_ptr<WorkspaceGuard> guard;
  if (level_ != IsolationLevel::none) {
    PAWL_TRY(guard, WorkspaceGuard::open(plan_, context_));
    for (const std::string& remark : guard->remarks()) {
      tell(remark);
      remarks_ += "[" + remark + ".]\n";
    }
  }
  sandbox::SandboxPlan plan = plan_;
  if (level_ == IsolationLevel::container) {
    PAWL_CHECK(places_.find(plan));
    plan.level = IsolationLevel::none;  // of the engine itself, which is the host's
  }
  forwarder_.reset();
  PAWL_TRY(place_, sandbox::Confinement::prepare(std::move(plan)));
  if (guard) {
    guard->hold(level_ == IsolationLevel::container ? places_.places() : place_->places());
  }
  if (guard_) guard_->close();
  guard_ = std::move(guard);
  if (context_.network.access == NetworkAccess::limited) {
    forwarder_ = std::make_unique<ProxyForwarder>(
        place_->proxy_listener(),
        [connect = connect_, context = context_] { return connect(context); });
  }
  stale_ = false;
  return ok();
}

// Before a process starts: mounts that no longer hold are made anew.
Status SessionCore::refresh() {
  if (guard_) {
    if (const auto paths = guard_->replaced(); !paths.empty()) {
      const bool ran = shell_.process != nullptr;
      const std::string said = end_for(paths);
      if (ran) why_lost_ += said;
    }
  }
  if (stale_) {
    if (guard_) guard_->wait_for_held();
    PAWL_CHECK(set_up());
  }
  settle_git();  // what the host has changed
  return repair_git();
}

void SessionCore::watch_places(PumpLimits& limits) {
  if (!guard_) return;
  limits.watched = guard_->descriptor();
  limits.look_watched = [this]() -> std::optional<Kind> {
    replaced_ = guard_->replaced();
    if (!replaced_.empty()) return Kind::denied;
    take_now();
    return taken_now_.size() < kTakenNowMax ? std::nullopt : std::optional(Kind::denied);
  };
}

void SessionCore::tell(const std::string& text) const {
  if (notice_) notice_(context_, text);
}

// A name whose mount is gone could be written: nothing of the session may run on.
std::string SessionCore::end_for(const std::vector<std::string>& replaced) {
  lost_shell_ = lost_shell_ || shell_.process != nullptr;
  end_shell();
  stale_ = true;
  std::string text;
  for (const std::string& path : replaced) {
    text +=
        "[" + path + " was replaced outside; the command was ended so that it stays protected.]\n";
    text += told_harm(path);
  }
  return text;
}

// Once for each set-up.
std::string SessionCore::told_harm(const std::string& path) {
  const std::string loud = harm_in_window(*guard_, path);
  if (loud.empty() || !harm_told_.insert(loud).second) return {};
  tell(loud);
  return "[" + loud + ".]\n";
}

// A protected name at any depth, found by the look at all files that follows a call.
std::string SessionCore::take_nested(BackendOutcome& outcome) {
  if (!guard_) return {};
  std::vector<std::string> paths = guard_->new_among(files_->protected_found());
  // A repository that a command makes beneath a root is looked at by SessionGit, where there is
  // one.
  std::erase_if(paths, [](const std::string& path) { return path.ends_with("/.git"); });
  if (paths.empty()) return {};
  lost_shell_ = lost_shell_ || shell_.process != nullptr;
  end_shell();
  const std::vector<std::string> said = guard_->take_paths(paths);
  outcome.kind = Kind::denied;
  {
    const AsOwner owner(place_->identity());
    outcome.files = files_->changes();
  }
  for (const std::string& sentence : said) tell(sentence);
  return describe_denial(said);
}

// A name that a file tool wrote after a question is there by right. It is held from now on.
BackendOutcome SessionCore::with_hold(BackendOutcome outcome) {
  outcome.level = level_;
  if (!guard_) return outcome;
  for (const FileRef& file : outcome.files) {
    const std::string path =
        file.path.starts_with('/') ? file.path : context_.working_directory + "/" + file.path;
    if (guard_->accept(path)) stale_ = true;
  }
  if (!guard_->replaced().empty()) stale_ = true;
  if (!stale_) return outcome;
  lost_shell_ = lost_shell_ || shell_.process != nullptr;
  end_shell();
  return outcome;
}

void SessionCore::look_around() {
  look_at_jobs();
  if (!guard_ || !shell_.process) return;
  if (const auto paths = guard_->replaced(); !paths.empty()) {
    why_lost_ += end_for(paths);
    return;
  }
  take_now();
}

sandbox::ProcessStart SessionCore::process(std::vector<std::string> argv) const {
  std::map<std::string, std::string> environment = {{"PATH", std::string(kPath)},
                                                    {"LANG", "C.UTF-8"},
                                                    {"LC_ALL", "C.UTF-8"},
                                                    {"HOME", place_->temporary_directory()},
                                                    {"TMPDIR", place_->temporary_directory()}};
  if (level_ == IsolationLevel::none) {
    environment.erase("TMPDIR");
    if (const char* home = std::getenv("HOME")) environment["HOME"] = home;  // NOLINT
  }
  if (context_.network.access == NetworkAccess::limited) set_proxy(environment);
  for (const auto& [name, value] : context_.environment) environment[name] = value;
  sandbox::ProcessStart start;
  start.argv = std::move(argv);
  start.working_directory = context_.working_directory;
  for (const auto& [name, value] : environment) start.environment.push_back(name + "=" + value);
  return start;
}

PumpLimits SessionCore::limits_of_shell() const {
  const bool bounded = place_->cgroup().bounds_memory();
  return {context_.limits.time_ms, context_.limits, TreeWatch::Past::forgotten, disk_.get(),
          bounded ? TreeWatch::Memory::bounded : TreeWatch::Memory::counted};
}

// What jobs of the shell took until now is not this call's, so it is looked at before.
SessionCore::Call SessionCore::begin(const ShellCommand& command) {
  if (look_at_jobs() || !disk_) {
    std::vector<std::string> roots = context_.write_roots;
    if (git_) std::ranges::copy(git_->places(), std::back_inserter(roots));
    disk_ = std::make_unique<DiskWatch>(std::move(roots), context_.limits);
  }
  PumpLimits limits = limits_of_shell();
  if (command.time_ms && *command.time_ms > 0) {
    limits.time_ms = std::min(limits.time_ms, *command.time_ms);
  }
  watch_places(limits);
  replaced_.clear();
  had_jobs_ = has_jobs();
  if (had_jobs_) files_->must_look();
  const AsOwner owner(place_->identity());
  files_->note();
  return {CallOutput(context_.limits.output_bytes, context_.artifact_directory,
                     {context_.limits.kept_bytes, context_.store_kept_bytes}, filter_),
          limits, std::exchange(remarks_, {})};
}

// Jobs may write to a file that they have mapped, which no watch sees.
bool SessionCore::has_jobs() const {
  return shell_.process && !shell_.process->is_alone();
}

// A shell without jobs has nothing to be looked at. False: there may be some, and they were looked
// at a moment ago; it takes longer than a short call does.
bool SessionCore::look_at_jobs() {
  if (!shell_.process || shell_.process->is_alone()) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < std::chrono::milliseconds(kWatchIntervalMs)) return false;
  looked_ = now;
  const PumpLimits limits = limits_of_shell();
  const auto why = shell_.process->look(limits);
  if (!why) return true;
  why_lost_ = describe_end_of_jobs(*why, limits);
  lost_shell_ = true;
  end_shell();
  return true;
}

BackendOutcome SessionCore::refusal(const Error& error) const {
  BackendOutcome outcome;
  outcome.output = error.message;
  outcome.output_length = error.message.size();
  outcome.level = level_;
  return outcome;
}

// Nothing of the session may run while names are taken.
std::vector<std::string> SessionCore::take_names() {
  std::vector<std::string> said = std::exchange(taken_now_, {});
  if (!guard_ || (said.empty() && !guard_->is_touched())) return {};
  lost_shell_ = lost_shell_ || shell_.process != nullptr;
  end_shell();
  for (std::string& text : guard_->take()) {
    tell(text);
    said.push_back(std::move(text));
  }
  return said;
}

// The operator is told at once, the model when the call ends.
void SessionCore::take_now() {
  for (std::string& text : guard_->take_now()) {
    tell(text);
    taken_now_.push_back(std::move(text));
  }
}

// What a background job has made since the last call.
std::optional<BackendOutcome> SessionCore::denial() {
  const std::vector<std::string> said = take_names();
  if (said.empty()) return std::nullopt;
  BackendOutcome outcome =
      refusal({ErrorCode::unavailable, describe_denial(said) + std::string(kNotRun)});
  outcome.kind = Kind::denied;
  return outcome;
}

// A container's engine tells a signal by the exit code only.
SessionCore::ProcessEnd SessionCore::end_of(const Started& started, std::optional<int> exit_code) {
  const bool told = started.container && exit_code && *exit_code > 128 && *exit_code < 128 + NSIG;
  return told || started.process->was_signalled() ? ProcessEnd::signalled : ProcessEnd::exited;
}

// `why` is what the host ended it for; otherwise the exit code says how it went.
BackendOutcome SessionCore::finish(Call& call, std::optional<Kind> why,
                                   std::optional<int> exit_code, ProcessEnd end) {
  BackendOutcome outcome;
  outcome.level = level_;
  outcome.exit_code = exit_code;
  outcome.kind = exit_code == 0 ? Kind::ok : Kind::failed;
  if (exit_code == 128 + SIGXFSZ) why = Kind::disk;
  if (exit_code == 128 + SIGXCPU) why = Kind::cpu;
  if (outcome.kind != Kind::ok) {
    const std::uint64_t kills =
        shell_.container ? shell_.container->memory_kills() : place_->cgroup().memory_kills();
    if (kills > std::exchange(memory_kills_, kills)) why = Kind::memory;
  }
  if (!why && outcome.kind == Kind::failed && end == ProcessEnd::signalled) {
    outcome.kind = Kind::killed;
    call.note += describe_limit(Kind::killed, call.limits);
  }
  if (why) {
    outcome.kind = *why;
    call.note += describe_limit(*why, call.limits);
    // A limit is the end of all that the call has started, also where only one of them hit it.
    lost_shell_ = lost_shell_ || shell_.process != nullptr;
    end_shell();
  }
  if (guard_ && replaced_.empty()) replaced_ = guard_->replaced();
  if (!replaced_.empty()) {
    call.note += end_for(replaced_);
    const auto written = [&](const std::string& path) { return guard_->was_written(path); };
    if (std::ranges::any_of(replaced_, written)) outcome.kind = Kind::denied;
  }
  if (const auto said = take_names(); !said.empty()) {
    outcome.kind = Kind::denied;
    call.note += describe_denial(said);
  }
  take_made_repositories();
  settle_git();
  call.note += describe_git(std::exchange(git_said_, {}));
  look_once_more(call, outcome);
  if (had_jobs_ || has_jobs()) files_->must_look();
  {
    const AsOwner owner(place_->identity());
    outcome.files = files_->changes();
  }
  call.note += take_nested(outcome);
  call.output.finish(outcome, call.note);
  if (!holds_names(level_)) return outcome;
  const std::string why_not = protected_note(outcome.output, context_);
  if (!why_not.empty()) call.output.finish(outcome, call.note + why_not);
  return outcome;
}

// Jobs ran on while commits were published.
void SessionCore::look_once_more(Call& call, BackendOutcome& outcome) {
  if (!guard_) return;
  std::vector<std::string> late = guard_->replaced();
  std::erase_if(late, [&](const std::string& path) {
    return std::ranges::find(replaced_, path) != replaced_.end();
  });
  if (late.empty()) return;
  call.note += end_for(late);
  const auto written = [&](const std::string& path) { return guard_->was_written(path); };
  if (std::ranges::any_of(late, written)) outcome.kind = Kind::denied;
}

// In a directory that is the session's own; one that others share is no place for it.
std::string SessionCore::input_file() const {
  return level_ == IsolationLevel::none ? "" : place_->temporary_directory() + "/.pawl-input";
}

Result<SessionCore::Started> SessionCore::start(sandbox::ProcessStart start) const {
  Started started;
  if (level_ == IsolationLevel::container) {
    PAWL_TRY(started.container,
             make_container(engine_, {plan_, places_.places(), start.argv, start.environment}));
    start.argv = started.container->command();
    start.working_directory.clear();
  }
  PAWL_TRY(started.process, RunningProcess::start(place_, std::move(start)));
  return started;
}

void SessionCore::end_shell() {
  if (shell_.container) memory_kills_ = 0;  // the next container counts anew
  shell_.process.reset();
  shell_.container.reset();
}

Status SessionCore::start_shell() {
  if (shell_.process) return ok();
  PAWL_TRY(shell_, start(process({"bash", "--norc", "--noprofile"})));
  return ok();
}

BackendOutcome SessionCore::bash(const ShellCommand& command, const Descriptor& stop) {
  if (auto denied = denial()) return *std::move(denied);
  if (auto held = refresh(); !held) return refusal(held.error());
  Call call = begin(command);
  const std::string mark = make_mark();
  MarkFinder finder(mark);
  auto frame =
      frame_call({command.command, command.input, input_file(), command.environment}, mark);
  if (!frame) return refusal(frame.error());
  if (auto started = start_shell(); !started) return refusal(started.error());
  if (std::exchange(lost_shell_, false)) {
    call.note += std::exchange(why_lost_, {}) + std::string(kFreshShell);
  }
  std::optional<Kind> why;
  const Pumped pumped = shell_.process->pump(
      *frame, RunningProcess::After::keep_open, stop, call.limits,
      [&](std::string_view piece) {
        call.output.append(finder.take(piece));
        return finder.exit_code().has_value();
      },
      why);
  if (pumped == Pumped::satisfied) return finish(call, why, finder.exit_code());
  call.output.append(finder.rest());
  // `exit`, `exec` or a crash: the shell's end is the call's.
  const std::optional<int> exit_code = shell_.process->kill();
  const ProcessEnd end = end_of(shell_, exit_code);
  end_shell();
  lost_shell_ = true;
  return finish(call, why, why ? std::nullopt : exit_code, end);
}

BackendOutcome SessionCore::exec(const ShellCommand& command, const Descriptor& stop) {
  if (auto denied = denial()) return *std::move(denied);
  if (auto held = refresh(); !held) return refusal(held.error());
  Call call = begin(command);
  call.limits.past = TreeWatch::Past::counts;
  call.limits.beside = [this] { look_at_jobs(); };
  sandbox::ProcessStart start = process(command.argv);
  for (const auto& [name, value] : command.environment) {
    start.environment.push_back(name + "=" + value);
  }
  auto started = this->start(std::move(start));
  if (!started) return refusal(started.error());
  RunningProcess& running = *started->process;
  std::optional<Kind> why;
  running.pump(
      command.input, RunningProcess::After::close, stop, call.limits,
      [&](std::string_view piece) {
        call.output.append(piece);
        return false;
      },
      why);
  const std::optional<int> exit_code = running.kill();
  // Without a control group, a limit of the process says no, and only the process knows. One that
  // failed at the brim has failed for it.
  const bool bounded = level_ != IsolationLevel::none && !place_->cgroup().bounds_memory();
  if (bounded && !why && exit_code != 0 && running.peak_bytes() >= brim_of(context_.limits)) {
    why = Kind::memory;
  }
  return finish(call, why, why ? std::nullopt : exit_code, end_of(*started, exit_code));
}

BackendOutcome SessionCore::view(const std::string& path, std::optional<ViewRange> range) {
  const AsOwner owner(place_->identity());
  BackendOutcome outcome = files_->view(path, range, context_.limits.output_bytes);
  outcome.level = level_;
  return outcome;
}

BackendOutcome SessionCore::create_file(const FileWrite& write) {
  const AsOwner owner(place_->identity());
  return with_hold(files_->create_file(write));
}

BackendOutcome SessionCore::str_replace(const StrReplace& edit) {
  const AsOwner owner(place_->identity());
  return with_hold(files_->str_replace(edit));
}

BackendOutcome SessionCore::file_request(const FileRequest& request) {
  const AsOwner owner(place_->identity());
  return with_hold(files_->file_request(request, context_.limits.output_bytes));
}

Status SessionCore::cleanup() {
  end_shell();
  if (place_) {
    if (guard_) static_cast<void>(end_for(guard_->replaced()));  // jobs may have been in the window
    take_names();
    take_made_repositories();
    settle_git();
  }
  if (git_) git_->finish();
  if (guard_) guard_->close();
  forwarder_.reset();
  place_.reset();
  files_.reset();
  return ok();
}

}  // namespace pawl::backend
