// A command line without a terminal and without a process of its own; with a store in memory, or
// with none.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pawl/adapter/asio/asio_loop.h"
#include "pawl/surface/cli/environment.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/journal_memory/journal_memory.h"

namespace pawl {

struct FakeScreen final : Console {
  void write(Stream stream, std::string_view text) override {
    (stream == Stream::out ? out : err) += text;
  }
  void pace(std::function<void()> call) override { progress = std::move(call); }
  Backlog backlog(Stream) override { return waiting; }
  void abandon(Stream) override { abandoned = true; }
  void flush() override {}
  bool is_terminal(Stream) const override { return terminal; }
  std::size_t columns() const override { return 80; }
  std::string loss(Stream stream) const override { return stream == Stream::out ? lost : ""; }

  std::function<void()> progress;
  Backlog waiting;  // as if its reader were slow
  bool abandoned = false;
  std::string lost;
  std::string out;
  std::string err;
  bool terminal = false;
};

struct FakeFile final : OutputFile {
  explicit FakeFile(std::string& into) : text(into) {}
  Status write(std::string_view piece) override {
    text += piece;
    return ok();
  }
  Status finish() override { return ok(); }

  std::string& text;
};

struct FakeLines final : LineSource {
  explicit FakeLines(std::string from) : text(std::move(from)) {}
  Result<std::optional<std::string>> next(std::size_t) override {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) return std::optional<std::string>();
    const std::size_t from = std::exchange(at, end + 1);
    return std::optional(text.substr(from, end - from));
  }
  Status rewind() override {
    at = 0;
    return ok();
  }

  std::string text;
  std::size_t at = 0;
};

struct FakeEnvironment : CliEnvironment {
  Console& console() override { return screen; }
  Result<Settings> settings(const SettingFlags& flags) override {
    Settings settings;
    settings.data_flag = flags.data;
    return settings;
  }
  Result<std::unique_ptr<Workspace>> open(const Settings&, IfAbsent) override {
    return Error{ErrorCode::not_found, "there is no store here"};
  }
  AgentReading read_agent(const std::string& path) override {
    return {std::nullopt, {path + ":1:1: wrong", path + ":2:1: wrong too"}};
  }
  AgentReading chat_agent(const std::string& model) override {
    return {std::nullopt, {"--model: nobody knows " + model}};
  }
  AsioLoop& main_loop() override { return idle_loop; }
  std::string description_of(const std::string&) override { return "Notes things."; }
  Result<std::string> read_text(const std::string& path) override { return "text of " + path; }
  Status write_new(const std::string& path, const std::string& text) override {
    if (files.contains(path)) return Error{ErrorCode::conflict, path + " is there already"};
    files[path] = text;
    return ok();
  }
  Status write_private(const std::string& path, const std::string& text) override {
    return write_new(path, text);
  }
  Result<std::unique_ptr<OutputFile>> create_file(const std::string& path) override {
    if (files.contains(path)) return Error{ErrorCode::conflict, path + " is there already"};
    return std::unique_ptr<OutputFile>(std::make_unique<FakeFile>(files[path]));
  }
  Result<std::unique_ptr<LineSource>> open_lines(const std::string& path) override {
    if (!files.contains(path)) return Error{ErrorCode::not_found, path + " is not there"};
    return std::unique_ptr<LineSource>(std::make_unique<FakeLines>(files[path]));
  }
  std::vector<std::string> secrets() const override { return {"not-for-you"}; }
  void log_line(const Settings&, const std::string& line) override { logged.push_back(line); }
  void remove_files(const Settings&, const std::string& run) override { forgotten.push_back(run); }
  std::vector<std::string> damaged_files(const Settings&, const std::string&) override {
    return damaged;
  }
  std::vector<std::string> damaged;
  FileTally old_outputs(const Settings&, const std::string& run, std::int64_t,
                        OldFiles what) override {
    if (what == OldFiles::removed) forgotten.push_back("outputs of " + run);
    return old_files;
  }
  void share_files(const Settings&, const std::string&, const std::string&) override {}
  Handover detach(const Settings&, const std::string&, const Background&) override { return {}; }
  std::vector<Finding> examine(const Settings&, Probing probing) override {
    probed = probing;
    return findings;
  }
  Result<StoreAcceptance> accept_store(const Settings&) override { return acceptance; }
  Result<StoreRestoration> restore_store(const std::string& backup,
                                         const std::string& directory) override {
    if (backup == "none") return Error{ErrorCode::not_found, "none has no pawl.db"};
    restored_to = directory;
    return restoration;
  }
  Result<std::vector<ModelRow>> models(const Settings&) override { return rows; }
  Result<TenantSpending> tenant_spending(const Settings&, const std::string& tenant) override {
    return TenantSpending{tenant, windows, entries, 1'000};
  }
  Status raise_tenant(const Settings&, const std::string&, const BudgetAmount& by) override {
    entries.push_back({1'000, {}, by});
    return ok();
  }
  SimulationOutcome simulate(const SimulationRequest& request,
                             const std::function<void(const SimulationTally&)>& progress) override {
    simulated = request;
    progress(simulation.tally);
    return simulation;
  }
  Result<std::uint64_t> serve_fake_provider(
      const FakeProviderRequest& request,
      const std::function<void(const std::string& url)>& ready) override {
    provided = request;
    if (!request.script.empty()) return Error{ErrorCode::invalid_argument, "a wrong script"};
    ready("http://127.0.0.1:9");
    return std::uint64_t{3};
  }
  Status remember(const Settings&, const RememberedApproval& approval) override {
    always.push_back(approval);
    return ok();
  }
  Result<std::vector<RememberedApproval>> remembered(const Settings&) override { return always; }
  Status forget(const Settings&, const std::string& id) override {
    return Error{ErrorCode::not_found, "nothing is remembered as " + id};
  }
  std::vector<FileQuestion> open_questions() override { return questions; }
  Result<FileQuestion> question_about(const std::string& path) override {
    return FileQuestion{path, path + ": changed", "-old\n+new\n", "abc"};
  }
  Status trust_file(const FileQuestion& question) override {
    trusted.push_back({question.path, question.digest, "", 0});
    return ok();
  }
  Result<std::vector<TrustedRow>> trusted_files() override { return trusted; }
  VersionNumbers versions() const override { return {"1.2.3", 7}; }
  std::int64_t wall_ms() const override { return idle_loop.wall_ms(); }
  std::string user() const override { return "somebody"; }

  FakeScreen screen;
  StoreAcceptance acceptance;
  StoreRestoration restoration;
  std::string restored_to;
  AsioLoop idle_loop;
  SimulationRequest simulated;
  SimulationOutcome simulation;
  FakeProviderRequest provided;
  std::map<std::string, std::string> files;
  std::vector<std::string> logged;
  std::vector<std::string> forgotten;
  FileTally old_files;  // of every run
  std::vector<FileQuestion> questions;
  std::vector<TrustedRow> trusted;
  std::vector<Finding> findings;
  Probing probed = Probing::none;
  std::vector<ModelRow> rows;
  std::vector<RememberedApproval> always;
  std::vector<BudgetWindow> windows;  // of every tenant
  std::vector<BudgetEntry> entries;
};

// A tool that answers at once, or never: then it is under way until its workspace is gone.
struct FakeTool final : Tool {
  enum class Answer : std::uint8_t { at_once, never };

  struct Waiting final : Operation {
    explicit Waiting(std::function<void()> on_abort) : aborted(std::move(on_abort)) {}
    void abort() override { aborted(); }
    std::function<void()> aborted;
  };

  FakeTool(AsioLoop& on, Answer answering) : loop(on), answer(answering) {
    about.name = "note";
    about.effect = EffectClass::once;
  }
  const ToolSpec& spec() const override { return about; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    keys.push_back(invocation.key);
    if (answer == Answer::at_once) {
      loop.post([done] { done({ToolOutcome::Kind::succeeded, "noted", 5}); });
    }
    return std::make_unique<Waiting>(
        [this, done] { loop.post([done] { done({ToolOutcome::Kind::aborted, "", 0}); }); });
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }

  AsioLoop& loop;
  Answer answer;
  ToolSpec about;
  std::vector<std::string> keys;
};

// Every workspace that is opened has the same store, as processes on one data directory have.
struct MemoryEnvironment final : FakeEnvironment {
  struct Opened final : Workspace {
    Opened(MemoryEnvironment& from, Store store)
        : environment(from),
          engine(EngineOptions{
              from.loop,
              store,
              {},
              [&from](const PinnedCharter&) { return Result<PreparedAgent>(from.agent()); }}),
          service_(engine) {}
    Service& service() override { return service_; }
    AsioLoop& loop() override { return environment.loop; }

    MemoryEnvironment& environment;
    Engine engine;
    Service service_;
  };

  Result<std::unique_ptr<Workspace>> open(const Settings&, IfAbsent) override {
    return std::unique_ptr<Workspace>(std::make_unique<Opened>(
        *this, Store{&journal, &journal, catalog, &journal, &journal, nullptr, &journal}));
  }
  AgentReading read_agent(const std::string&) override { return {agent(), {}}; }
  AgentReading chat_agent(const std::string&) override {
    PreparedAgent made = agent();
    made.tools.clear();
    ResolvedTarget target;
    target.literal = "scripted";
    made.targets = {target};
    return {std::move(made), {}};
  }
  AsioLoop& main_loop() override { return loop; }

  PreparedAgent agent() {
    PreparedAgent made;
    made.charter.name = "test";
    made.charter.model = "scripted";
    made.charter.instructions = "Go.";
    made.executor = make_scripted_executor(script, loop);
    made.tools.push_back(tool);
    if (price > 0) {
      ResolvedTarget target;
      target.literal = "scripted";
      target.facts.prices.input = target.facts.prices.output = price;
      made.targets = {target};
    }
    return made;
  }
  // A run whose process dies while its tool is under way.
  void start_and_crash(const std::string& id) {
    auto workspace = *open({}, IfAbsent::make);
    tool->answer = FakeTool::Answer::never;
    StartRequest request;
    request.agent = agent();
    request.id = RunId{id};
    workspace->service().start(std::move(request), [](const Result<RunId>&) {});
    loop.run_until([this] { return !tool->keys.empty(); });
  }

  std::uint64_t price = 0;  // of a token, in 10^-12 units
  AsioLoop loop;
  MemoryJournal journal{loop};
  Catalog* catalog = &journal;
  std::shared_ptr<FakeTool> tool = std::make_shared<FakeTool>(loop, FakeTool::Answer::at_once);
  Script script{{ScriptReply::call("note"), ScriptReply::say("All noted.")}};
};

}  // namespace pawl
