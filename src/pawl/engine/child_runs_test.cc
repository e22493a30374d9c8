// Runs beneath a run, in one process and over crashes of it: M25 to M30 of docs/charter.md,
// "Agents".
#include "pawl/engine/child_runs.h"

#include <doctest/doctest.h>

#include <map>

#include "pawl/kernel/agent_tree.h"
#include "pawl/kernel/codec.h"
#include "pawl/service/service.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/forwarding_reader.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

const RunId kParent{"p"};

// From the n-th append on nothing is written, or nothing acknowledged, of any run.
class DyingJournal : public Journal {
 public:
  enum class Dying { before_write, before_acknowledgement };
  DyingJournal(Journal& inner, Dying death, int at) : inner_(inner), death_(death), at_(at) {}

  Result<RunLease> acquire(const RunId& run) override { return inner_.acquire(run); }
  Status quarantine(const RunId& run, const std::string& why) override {
    return inner_.quarantine(run, why);
  }
  void append(Append append, StatusCallback done) override {
    ++count_;
    if (count_ > at_ || (count_ == at_ && death_ == Dying::before_write)) return;
    const bool silent = count_ == at_;
    inner_.append(std::move(append), [done = std::move(done), silent](const Status& status) {
      if (!silent) done(status);
    });
  }
  int count() const { return count_; }

 private:
  Journal& inner_;
  Dying death_;
  int at_;
  int count_ = 0;
};
using Dying = DyingJournal::Dying;
constexpr int kNever = 1'000'000;

// A tool that counts what it did, by key.
class ActingTool : public Tool {
 public:
  ActingTool(Loop& loop, std::map<std::string, int>& done) : loop_(loop), done_(done) {
    spec_.name = "act";
    spec_.effect = EffectClass::reconcilable;
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    ++done_[invocation.key];
    return later([done] { done(ToolOutcome{ToolOutcome::Kind::succeeded, "ok", 2}); });
  }
  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    const auto kind =
        done_.contains(invocation.key) ? ToolStatus::Kind::done : ToolStatus::Kind::absent;
    return later([done, kind] { done(ToolStatus{kind, "ok"}); });
  }

 private:
  struct Answer : Operation {
    std::shared_ptr<bool> wanted = std::make_shared<bool>(true);
    ~Answer() override { *wanted = false; }
    void abort() override {}
  };
  std::unique_ptr<Operation> later(std::function<void()> work) {
    auto answer = std::make_unique<Answer>();
    loop_.post([wanted = answer->wanted, work = std::move(work)] {
      if (*wanted) work();
    });
    return answer;
  }

  ToolSpec spec_;
  Loop& loop_;
  std::map<std::string, int>& done_;
};

struct TreeBench {
  TestLoop loop;
  MemoryJournal memory{loop};
  std::map<std::string, int> done;
  std::map<std::string, std::vector<ScriptReply>> scripts;  // by agent
  Limits limits;
  std::shared_ptr<CallGate> gate_of_crew;

  TreeBench() {
    scripts["lead"] = {ScriptReply::call("agent__crew", R"({"input":"go"})"),
                       ScriptReply::say("all of it is done")};
    scripts["crew"] = {ScriptReply::call("act"), ScriptReply::say("the crew is done")};
  }

  PreparedAgent agent(const std::string& name) {
    PreparedAgent agent;
    agent.charter.name = name;
    agent.charter.instructions = "x";
    agent.charter.model = "scripted";
    if (name == "lead") {
      CharterAgent crew;
      crew.name = "crew";
      crew.text = "the charter of the crew";
      agent.charter.machine.agents = {crew};
      agent.charter.limits = limits;
    } else {
      agent.tools.push_back(std::make_shared<ActingTool>(loop, done));
      agent.gate = gate_of_crew;
    }
    Script script;
    script.replies = scripts[name];
    agent.executor = make_scripted_executor(script, loop);
    return agent;
  }

  EngineOptions options(Journal& journal) {
    const AgentSource source = [this](const PinnedCharter& pinned) -> Result<PreparedAgent> {
      return agent(pinned.name);
    };
    return {loop, {&journal, &memory, &memory, &memory}, {}, source, "test"};
  }

  void settle() {
    for (int i = 0; i < 80; ++i) {
      loop.run_posted();
      loop.advance(20);
    }
  }

  RunState state(const RunId& run) {
    const auto loaded = load_run(memory, run, UseSnapshot::yes);
    REQUIRE_MESSAGE(loaded, loaded.error().message);
    return loaded->run.state();
  }
  bool has(const RunId& run) { return memory.read(run, 0, 1).has_value(); }
  RunId child() { return child_run_id(state(kParent), CallId{1}); }
  std::string output(const RunId& run) { return *output_text(memory, state(run)); }
  std::size_t runs() { return memory.list({})->size(); }
};

// A life of a process, which dies at append `at` of any run.
int live_tree(TreeBench& bench, Dying death = Dying::before_write, int at = kNever) {
  DyingJournal journal(bench.memory, death, at);
  Engine engine(bench.options(journal));
  if (bench.has(kParent)) {
    (void)engine.resume(kParent);  // over: there is nothing to do
  } else {
    engine.start({bench.agent("lead"), "go", kParent, nullptr}, [](const Result<RunId>&) {});
  }
  bench.settle();
  return journal.count();
}

void check_end(TreeBench& bench) {
  CHECK(status_of(bench.state(kParent)) == RunStatus::done);
  CHECK(bench.output(kParent) == "all of it is done");
  CHECK(bench.output(bench.child()) == "the crew is done");
  CHECK(bench.runs() == 2);
  CHECK(bench.done.size() == 1);
  CHECK(bench.done.begin()->second == 1);
  const RunState parent = bench.state(kParent);
  CHECK(total_tokens(parent.tally.usage) >= total_tokens(bench.state(bench.child()).tally.usage));
  CHECK(parent.children.empty());
}

TEST_CASE("M26: a run and one beneath it are driven in one process, each with its journal") {
  TreeBench bench;
  live_tree(bench);
  check_end(bench);
  const RunState child = bench.state(bench.child());
  REQUIRE(child.lineage.size() == 1);
  CHECK(child.lineage[0].run == kParent);
  CHECK(child.lineage[0].call == CallId{1});
  CHECK(child.lineage[0].agent == "crew");
  CHECK(bench.state(kParent).tally.steps == 2);  // those of the other are its own
}

// Counts how often single records of the parent are read.
class CountingReader final : public ForwardingReader {
 public:
  using ForwardingReader::ForwardingReader;
  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    if (run == kParent && bytes_max == 1) ++reads[from];
    return ForwardingReader::read(run, from, bytes_max);
  }
  std::map<std::uint64_t, int> reads;
};

TEST_CASE("calls of one reply that wait for a place are read back once") {
  constexpr std::size_t kCalls = 6;
  TreeBench bench;
  std::vector<ScriptCall> calls;
  for (std::size_t i = 0; i < kCalls; ++i) {
    calls.push_back({"agent__crew", R"({"input":"go )" + std::to_string(i) + R"("})"});
  }
  bench.scripts["lead"][0] = ScriptReply::call_all(std::move(calls));
  CountingReader reader(bench.memory);
  EngineOptions options = bench.options(bench.memory);
  options.store.reader = &reader;
  Engine engine(options);
  PreparedAgent lead = bench.agent("lead");
  lead.charter.machine.subagents.at_a_time = 1;
  engine.start({lead, "go", kParent, nullptr}, [](const Result<RunId>&) {});
  bench.settle();
  bench.settle();

  REQUIRE(status_of(bench.state(kParent)) == RunStatus::done);
  CHECK(bench.runs() == kCalls + 1);
  std::uint64_t reply = 0;
  const auto is_reply = [&](std::uint64_t seq) {
    return std::holds_alternative<ModelReplied>(read_record(bench.memory, kParent, seq)->event);
  };
  while (!is_reply(reply)) ++reply;
  CHECK(reader.reads[reply] == 1);  // by the first that waited
}

TEST_CASE("M26: killed at any append of either, the tree ends as if it had not been") {
  TreeBench undisturbed;
  const int appends = live_tree(undisturbed);
  REQUIRE(appends > 8);
  for (const Dying death : {Dying::before_write, Dying::before_acknowledgement}) {
    for (int at = 1; at <= appends; ++at) {
      CAPTURE(at);
      TreeBench bench;
      live_tree(bench, death, at);
      live_tree(bench, death, 3);  // and once more while it recovers
      live_tree(bench);
      check_end(bench);
    }
  }
}

TEST_CASE("M25: a run that did not end as it should says so in its result") {
  TreeBench bench;
  bench.scripts["crew"] = {};  // A model that has nothing to say fails.
  live_tree(bench);
  CHECK(status_of(bench.state(kParent)) == RunStatus::done);
  bool told = false;
  for (std::uint64_t seq = 0; seq < bench.state(kParent).length; ++seq) {
    const auto record = read_record(bench.memory, kParent, seq);
    const auto* finished = std::get_if<ToolFinished>(&record->event);
    if (finished == nullptr) continue;
    told = finished->content.bytes()->find(R"({"status":"failed","stop_reason":)") == 0;
  }
  CHECK(told);
}

// Asks a person before the crew acts.
class AskingGate : public CallGate {
 public:
  std::vector<CallJudgement> judge(const ProposedPlan& plan) override {
    CallJudgement ask;
    ask.verdict = CallVerdict::ask;
    ask.binding = sha256("act");
    return std::vector<CallJudgement>(plan.calls.size(), ask);
  }
  std::unique_ptr<Operation> ask(const ProposedPlan&, std::function<void(CallJudgement)>) override {
    return nullptr;
  }
  Digest binding_of(const ProposedCall&) override { return sha256("act"); }
};

void approve(TreeBench& bench) {
  CallDecided decided;
  decided.call = CallId{1};
  decided.decision = InterruptDecision::approve;
  decided.binding = sha256("act");
  decided.by = "u";
  bench.memory.post(bench.child(), 0, encode_event(decided),
                    [](const Status& posted) { CHECK(posted); });
}

TEST_CASE(
    "M26: a run beneath it that waits for a person makes a run wait, and resume drives both") {
  TreeBench bench;
  bench.gate_of_crew = std::make_shared<AskingGate>();
  live_tree(bench);
  CHECK(waits_for(bench.state(kParent)) == WaitFor::children);
  CHECK(waits_for(bench.state(bench.child())) == WaitFor::approval);
  live_tree(bench);  // Nothing has happened meanwhile.
  CHECK(waits_for(bench.state(kParent)) == WaitFor::children);
  approve(bench);
  live_tree(bench);
  check_end(bench);
}

TEST_CASE("M26: a run that is carried on alone wakes the one above at its next drive") {
  TreeBench bench;
  bench.gate_of_crew = std::make_shared<AskingGate>();
  live_tree(bench);
  approve(bench);
  {
    Engine engine(bench.options(bench.memory));
    REQUIRE(engine.resume(bench.child()));
    bench.settle();
  }
  CHECK(status_of(bench.state(bench.child())) == RunStatus::done);
  CHECK(waits_for(bench.state(kParent)) == WaitFor::children);
  live_tree(bench);
  check_end(bench);
}

TEST_CASE("M28: a run beneath one with a bound asks it, also when it is carried on alone") {
  TreeBench bench;
  bench.limits.budget_tokens = 100'000;
  bench.gate_of_crew = std::make_shared<AskingGate>();
  live_tree(bench);
  approve(bench);
  {
    Engine engine(bench.options(bench.memory));
    REQUIRE(engine.resume(bench.child()));
    bench.settle();
  }
  check_end(bench);  // The run above was needed for its word, and went on.
}

TEST_CASE("M28: killed at any append under a bound, nothing is spent twice or forgotten") {
  const auto bounded = [] {
    auto bench = std::make_unique<TreeBench>();
    bench->limits.budget_tokens = 100'000;
    return bench;
  };
  const auto undisturbed = bounded();
  const int appends = live_tree(*undisturbed);
  check_end(*undisturbed);
  for (int at = 1; at <= appends; ++at) {
    CAPTURE(at);
    const auto bench = bounded();
    live_tree(*bench, Dying::before_acknowledgement, at);
    live_tree(*bench);
    check_end(*bench);
    CHECK(total_tokens(bench->state(kParent).tally.usage) <= 100'000);
  }
}

TEST_CASE("M28: without money for it a run beneath one waits, and both go on after a raise") {
  TreeBench bench;
  bench.limits.budget_tokens = 1'200;  // for the first reply of the lead, and not for the crew
  bench.scripts["lead"][0].usage = Usage{900, 200, 0, 0, 0};
  live_tree(bench);
  REQUIRE(bench.has(bench.child()));
  CHECK(waits_for(bench.state(bench.child())) == WaitFor::budget);
  CHECK(waits_for(bench.state(kParent)) == WaitFor::children);
  BudgetRaised raise;
  raise.tokens = 100'000;
  raise.by = "u";
  bench.memory.post(kParent, 0, encode_event(raise), [](const Status& posted) { CHECK(posted); });
  live_tree(bench);
  check_end(bench);
}

TEST_CASE("M30: a cancel reaches a run beneath that waits, and one that works") {
  for (const bool waits : {true, false}) {
    CAPTURE(waits);
    TreeBench bench;
    if (waits) bench.gate_of_crew = std::make_shared<AskingGate>();
    bench.scripts["crew"][0].delay_ms = waits ? 0 : 10'000;
    DyingJournal journal(bench.memory, Dying::before_write, kNever);
    Engine engine(bench.options(journal));
    engine.start({bench.agent("lead"), "go", kParent, nullptr}, [](const Result<RunId>&) {});
    bench.settle();
    REQUIRE(bench.has(bench.child()));
    const CancelRequested cancel{"u", ""};
    if (!engine.feed(kParent, cancel)) {
      bench.memory.post(kParent, 0, encode_event(cancel), [](const Status&) {});
      REQUIRE(engine.resume(kParent));
    }
    bench.settle();
    CHECK(status_of(bench.state(kParent)) == RunStatus::cancelled);
    CHECK(status_of(bench.state(bench.child())) == RunStatus::cancelled);
    CHECK(engine.is_idle());
  }
}

TEST_CASE("M30: a pause reaches a run beneath, and a resume lifts it") {
  TreeBench bench;
  bench.scripts["crew"][1].delay_ms = 10'000;
  {
    Engine engine(bench.options(bench.memory));
    engine.start({bench.agent("lead"), "go", kParent, nullptr}, [](const Result<RunId>&) {});
    bench.settle();
    REQUIRE(engine.feed(kParent, PauseRequested{"u"}));
    bench.settle();
  }
  CHECK(waits_for(bench.state(kParent)) == WaitFor::paused);
  CHECK(waits_for(bench.state(bench.child())) == WaitFor::paused);
  Engine engine(bench.options(bench.memory));
  Service service(engine);
  REQUIRE(service.resume(kParent));
  bench.loop.advance(20'000);
  bench.settle();
  check_end(bench);
}

}  // namespace
}  // namespace pawl
