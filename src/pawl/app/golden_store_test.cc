// Stores that were written once must be usable for ever: tests/golden/store-v1 holds one, with a
// run in every state. PAWL_WRITE_GOLDEN=1 writes it anew, which is right only while the format is
// unreleased; after that a new version gets a new directory.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>

#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/adapter/journal_sqlite/schema.h"
#include "pawl/service/service.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

constexpr std::uintmax_t kGoldenBytesMax = 200'000;
constexpr std::size_t kLargeResultBytes = 5'000;  // a blob

struct World {
  enum class Answer : std::uint8_t { at_once, never } answer = Answer::at_once;
  std::map<std::string, int> asked;  // "invoke once", "status reconcilable": how often
};

// Answers with its name, or is under way for ever.
class GoldenTool final : public Tool {
 public:
  GoldenTool(EffectClass effect, Loop& loop, World& world) : loop_(loop), world_(world) {
    spec_.name = name(effect);
    spec_.effect = effect;
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation&,
                                    std::function<void(ToolOutcome)> done) override {
    ++world_.asked["invoke " + spec_.name];
    std::string result = spec_.name;
    if (spec_.effect == EffectClass::pure) result.resize(kLargeResultBytes, '.');
    return later(std::move(done), ToolOutcome{ToolOutcome::Kind::succeeded, result, result.size()});
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)> done) override {
    ++world_.asked["status " + spec_.name];
    return later(std::move(done), ToolStatus{ToolStatus::Kind::done, "had happened"});
  }

 private:
  struct Answer final : Operation {
    std::shared_ptr<bool> wanted = std::make_shared<bool>(true);
    ~Answer() override { *wanted = false; }
    void abort() override {}
  };
  template <class Outcome>
  std::unique_ptr<Operation> later(std::function<void(Outcome)> done, Outcome outcome) {
    auto answer = std::make_unique<Answer>();
    if (world_.answer == World::Answer::never) return answer;
    loop_.post([wanted = answer->wanted, done = std::move(done), outcome] {
      if (*wanted) done(outcome);
    });
    return answer;
  }

  ToolSpec spec_;
  Loop& loop_;
  World& world_;
};

// What the agent of that name does. A model that takes any time never answers: the clock stands
// still.
Script script_of(const std::string& agent, World::Answer answer) {
  ScriptReply slow = ScriptReply::say("All done.");
  slow.delay_ms = answer == World::Answer::never ? 1'000 : 0;
  Script script;
  script.replies = {ScriptReply::call("pure"), ScriptReply::say("All done.")};
  if (agent == "failed") script.replies = {ScriptReply::fail(ErrorCategory::policy_violation)};
  if (agent == "slow") script.replies = {slow, slow};
  if (agent == "once") {  // and answers the message in its inbox
    script.replies = {ScriptReply::call("once"), ScriptReply::say("All done."),
                      ScriptReply::say("I am.")};
  }
  if (agent == "every") {
    script.replies.front() =
        ScriptReply::call_all({{"pure"}, {"idempotent"}, {"reconcilable"}, {"once"}});
  }
  return script;
}

// A process on a store.
struct Process {
  explicit Process(const std::string& directory) : journal(open(directory)), engine(options()) {
    engine.on_ended([this](const RunId& run, const Status& status) {
      CHECK(status);
      ended.insert(run.text);
    });
  }
  std::unique_ptr<SqliteJournal> open(const std::string& directory) {
    auto opened = SqliteJournal::open(directory, loop);
    if (!opened) FAIL(opened.error().message);
    return *std::move(opened);
  }
  EngineOptions options() {
    SqliteJournal* store = journal.get();
    const AgentSource source = [this](const PinnedCharter& pinned) -> Result<PreparedAgent> {
      return agent(pinned.name);
    };
    return {loop, {store, store, store, store, store, store}, {}, source, "golden"};
  }
  PreparedAgent agent(const std::string& name) {
    PreparedAgent made;
    made.charter.name = name;
    made.charter.instructions = "Go.";
    made.charter.model = "scripted";
    if (name == "stopped") made.charter.limits.steps = 1;
    made.executor = make_scripted_executor(script_of(name, world.answer), loop);
    for (const EffectClass effect : {EffectClass::pure, EffectClass::idempotent,
                                     EffectClass::reconcilable, EffectClass::once}) {
      made.tools.push_back(std::make_shared<GoldenTool>(effect, loop, world));
    }
    return made;
  }
  void start(const std::string& id, const std::string& name) {
    bool accepted = false;
    engine.start({agent(name), "go", RunId{id}, nullptr},
                 [&](const Result<RunId>& run) { accepted = run.has_value(); });
    REQUIRE(loop.run_until([&] { return accepted; }));
  }
  void run_to_the_end(const std::string& id) {
    REQUIRE(loop.run_until([&] { return ended.contains(id); }));
  }
  void resume(const std::string& id) {
    const Status resumed = service.resume(RunId{id});
    if (!resumed) FAIL(resumed.error().message);
    run_to_the_end(id);
  }
  void post(const std::string& id, const Event& event) {
    std::optional<Status> posted;
    service.post(RunId{id}, event, [&](const Status& status) { posted = status; });
    REQUIRE(loop.run_until([&] { return posted.has_value(); }));
    CHECK(*posted);
  }
  std::string standing(const std::string& id) {
    const auto summary = service.summary_of(RunId{id});
    return summary ? summary->status + " " + summary->reason : summary.error().message;
  }

  TestLoop loop;
  World world;
  std::unique_ptr<SqliteJournal> journal;
  Engine engine;
  Service service{engine};
  std::set<std::string> ended;
};

// --- The generator ------------------------------------------------------------------------------

void write_golden(const std::string& directory) {
  {
    Process process(directory);
    for (const char* id : {"done", "stopped", "failed"}) {
      process.start(id, id);
      process.run_to_the_end(id);
    }
    process.start("quarantined", "done");
    process.run_to_the_end("quarantined");
    REQUIRE(process.journal->quarantine(RunId{"quarantined"}, "as if it had been damaged"));
    process.world.answer = World::Answer::never;
    for (const char* id : {"paused", "cancelled"}) process.start(id, "slow");
    REQUIRE(process.engine.feed(RunId{"paused"}, PauseRequested{"ann"}));
    process.run_to_the_end("paused");
    REQUIRE(process.engine.feed(RunId{"cancelled"}, CancelRequested{"ann", "enough"}));
    process.run_to_the_end("cancelled");
    process.start("doubt", "once");
    process.start("interrupted", "every");
    REQUIRE(process.loop.run_until([&] { return process.world.asked["invoke once"] == 2; }));
  }
  Process process(directory);
  process.resume("doubt");
  process.post("doubt", MessageReceived{kRootInstance, Content("Are you there?"), "ann"});
  REQUIRE(process.journal->checkpoint());
}

const std::map<std::string, std::string> kStandings = {
    {"done", "done end_turn"},
    {"stopped", "stopped steps"},
    {"failed", "failed policy_violation"},
    {"quarantined", "quarantined as if it had been damaged"},
    {"paused", "waiting paused"},
    {"cancelled", "cancelled cancelled"},
    {"doubt", "waiting in_doubt"},
    {"interrupted", "running "},
};

// --- The test -----------------------------------------------------------------------------------

void check_as_it_was(Process& process) {
  const auto listed = process.service.list({});
  REQUIRE(listed);
  CHECK(listed->size() == kStandings.size());
  for (const auto& [id, standing] : kStandings) {
    CAPTURE(id);
    CHECK(process.standing(id) == standing);
    const auto report = process.service.verify(RunId{id});
    REQUIRE(report);
    CHECK(report->damage == "");
    CHECK(process.service.explain(RunId{id}));
  }
  CHECK(process.service.verify(RunId{"done"})->blobs == 1);
  CHECK(process.journal->pending(RunId{"doubt"})->size() == 1);
}

void resolve_and_resume(Process& process, const std::string& id, CallId call) {
  const auto event = process.service.resolution(RunId{id}, call, DoubtVerdict::happened,
                                                std::string("it had"), "ann");
  if (!event) FAIL(event.error().message);
  process.post(id, *event);
  process.ended.clear();
  process.resume(id);
}

void carry_on(Process& process) {
  process.resume("paused");
  CHECK(process.standing("paused") == "done end_turn");
  resolve_and_resume(process, "doubt", CallId{1});
  CHECK(process.standing("doubt") == "done end_turn");
  CHECK(process.world.asked.empty());

  process.resume("interrupted");
  CHECK(process.standing("interrupted") == "waiting in_doubt");
  CHECK(process.world.asked == std::map<std::string, int>{{"invoke pure", 1},
                                                          {"invoke idempotent", 1},
                                                          {"status reconcilable", 1}});
  resolve_and_resume(process, "interrupted", CallId{4});
  CHECK(process.standing("interrupted") == "done end_turn");

  const Status damaged = process.service.resume(RunId{"quarantined"});
  REQUIRE(!damaged);
  CHECK(damaged.error().code == ErrorCode::corrupt);
}

std::string golden_directory() {
  const char* source = std::getenv("PAWL_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) + "/tests/golden";
}

TEST_CASE("the stores of every version are opened, verified and carried on") {
  const std::string current =
      golden_directory() + "/store-v" + std::to_string(sqlite::kSchemaVersion);
  if (const char* wanted = std::getenv("PAWL_WRITE_GOLDEN"); wanted != nullptr && *wanted == '1') {
    const TempDirectory draft;
    write_golden(draft / "store");
    std::filesystem::create_directories(current);
    for (const char* file : {"/pawl.db", "/pawl.mark"}) {
      std::filesystem::copy_file(draft / "store" + file, current + file,
                                 std::filesystem::copy_options::overwrite_existing);
    }
  }
  for (std::uint32_t version = 1; version <= sqlite::kSchemaVersion; ++version) {
    CAPTURE(version);
    const std::string golden =
        golden_directory() + "/store-v" + std::to_string(version) + "/pawl.db";
    REQUIRE(std::filesystem::exists(golden));
    CHECK(std::filesystem::file_size(golden) <= kGoldenBytesMax);
    const TempDirectory copy;
    std::filesystem::create_directory(copy / "store");
    std::filesystem::permissions(copy / "store", std::filesystem::perms::owner_all);
    std::filesystem::copy_file(golden, copy / "store/pawl.db");
    std::filesystem::copy_file(golden.substr(0, golden.rfind('/')) + "/pawl.mark",
                               copy / "store/pawl.mark");
    Process process(copy / "store");

    check_as_it_was(process);
    carry_on(process);
  }
}

}  // namespace
}  // namespace pawl
