// Crashes at every append, before it is written or before it is acknowledged, and carries on: the
// run must end as if nothing had happened, and no effect may happen twice behind anyone's back.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "pawl/engine/engine.h"
#include "pawl/kernel/codec.h"
#include "pawl/service/service.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

enum class Crash { before_write, before_acknowledgement };

// Dies at the n-th append: from then on nothing is written and nothing acknowledged.
class CrashingJournal : public Journal {
 public:
  CrashingJournal(Journal& inner, Crash crash, int at) : inner_(inner), crash_(crash), at_(at) {}

  Result<RunLease> acquire(const RunId& run) override { return inner_.acquire(run); }
  Status quarantine(const RunId& run, const std::string& why) override {
    return inner_.quarantine(run, why);
  }
  void append(Append append, StatusCallback done) override {
    ++count_;
    if (count_ > at_ || (count_ == at_ && crash_ == Crash::before_write)) return;
    const bool silent = count_ == at_;
    inner_.append(std::move(append), [done = std::move(done), silent](const Status& status) {
      if (!silent) done(status);
    });
  }
  int count() const { return count_; }

 private:
  Journal& inner_;
  Crash crash_;
  int at_;
  int count_ = 0;
};

// The outside world: it remembers what was done to it, by key.
struct World {
  std::map<std::string, int> effects;  // "tool key" -> how often
};

class WorldTool : public Tool {
 public:
  WorldTool(ToolSpec spec, Loop& loop, World& world)
      : spec_(std::move(spec)), loop_(loop), world_(world) {}

  const ToolSpec& spec() const override { return spec_; }

  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    ++world_.effects[spec_.name + " " + invocation.key];
    return later(std::move(done), ToolOutcome{ToolOutcome::Kind::succeeded, "ok", 2});
  }
  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    const bool happened = world_.effects.contains(spec_.name + " " + invocation.key);
    return later(std::move(done),
                 ToolStatus{happened ? ToolStatus::Kind::done : ToolStatus::Kind::absent, "ok"});
  }

 private:
  struct Answer : Operation {
    std::shared_ptr<bool> wanted = std::make_shared<bool>(true);
    ~Answer() override { *wanted = false; }
    void abort() override {}
  };
  template <class Outcome>
  std::unique_ptr<Operation> later(std::function<void(Outcome)> done, Outcome outcome) {
    auto answer = std::make_unique<Answer>();
    loop_.post([wanted = answer->wanted, done = std::move(done), outcome] {
      if (*wanted) done(outcome);
    });
    return answer;
  }

  ToolSpec spec_;
  Loop& loop_;
  World& world_;
};

struct Bench {
  TestLoop loop;
  MemoryJournal memory{loop};
  World world;

  PreparedAgent agent() {
    PreparedAgent agent;
    agent.charter.name = "crash";
    agent.charter.instructions = "x";
    agent.charter.model = "scripted";
    Script script;
    script.replies = {ScriptReply::call("once"),
                      ScriptReply::call_all({{"pure"}, {"idempotent"}, {"reconcilable"}, {"once"}}),
                      ScriptReply::say("finished")};
    agent.executor = make_scripted_executor(script, loop);
    for (const EffectClass effect : {EffectClass::pure, EffectClass::idempotent,
                                     EffectClass::reconcilable, EffectClass::once}) {
      ToolSpec spec;
      spec.name = name(effect);
      spec.effect = effect;
      agent.tools.push_back(std::make_shared<WorldTool>(spec, loop, world));
    }
    return agent;
  }

  EngineOptions options(Journal& journal) {
    const AgentSource source = [this](const PinnedCharter&) -> Result<PreparedAgent> {
      return agent();
    };
    return {loop, {&journal, &memory, &memory, &memory}, {}, source, "test"};
  }

  void settle() {
    for (int i = 0; i < 50; ++i) {
      loop.run_posted();
      loop.advance(20);
    }
  }
};

// A life of a process: starts the run or takes it up, and dies at append `at`.
int live(Bench& bench, const RunId& id, Crash crash, int at) {
  CrashingJournal journal(bench.memory, crash, at);
  Engine engine(bench.options(journal));
  ListQuery query;
  const bool exists = !bench.memory.list(query)->empty();
  if (exists) {
    const Status resumed = engine.resume(id);
    CHECK(resumed.has_value());
  } else {
    engine.start({bench.agent(), "go", id, nullptr}, [](const Result<RunId>&) {});
  }
  bench.settle();
  return journal.count();
}

void resolve_by_the_truth(Bench& bench, const RunId& id) {
  const auto loaded = load_run(bench.memory, id, UseSnapshot::yes);
  REQUIRE(loaded);
  for (const Call& call : loaded->run->calls) {
    if (!std::holds_alternative<CallDoubtful>(call.state)) continue;
    const std::string key = key_of(loaded->run.state(), call.id);
    const bool happened = bench.world.effects.contains(call.tool + " " + key);
    DoubtResolved event;
    event.call = call.id;
    event.verdict = happened ? DoubtVerdict::happened : DoubtVerdict::did_not_happen;
    event.result = Content("ok");
    event.attempt = call.attempts;
    bench.memory.post(id, 0, encode_event(event), [](const Status& posted) { CHECK(posted); });
  }
  bench.loop.run_posted();
}

RunState carry_to_the_end(Bench& bench, const RunId& id) {
  for (int lives = 0; lives < 5; ++lives) {
    const auto loaded = load_run(bench.memory, id, UseSnapshot::yes);
    if (loaded && std::holds_alternative<Finished>(loaded->run->life)) return loaded->run.state();
    if (loaded) resolve_by_the_truth(bench, id);
    live(bench, id, Crash::before_write, 1'000'000);
  }
  FAIL("the run does not end");
  return {};
}

void check_world(const Bench& bench) {
  std::map<std::string, int> keys_of;
  for (const auto& [effect, times] : bench.world.effects) {
    const std::string tool = effect.substr(0, effect.find(' '));
    ++keys_of[tool];
    if (tool == "once" || tool == "reconcilable") CHECK(times == 1);
  }
  CHECK(keys_of == std::map<std::string, int>{
                       {"idempotent", 1}, {"once", 2}, {"pure", 1}, {"reconcilable", 1}});
}

TEST_CASE("a run that crashes at any append ends as if it had not") {
  const RunId id{"r"};
  Bench undisturbed;
  const int appends = live(undisturbed, id, Crash::before_write, 1'000'000);
  REQUIRE(appends > 8);
  for (const Crash crash : {Crash::before_write, Crash::before_acknowledgement}) {
    for (int at = 1; at <= appends; ++at) {
      CAPTURE(at);
      Bench bench;
      live(bench, id, crash, at);
      const RunState end = carry_to_the_end(bench, id);
      CHECK(status_of(end) == RunStatus::done);
      CHECK(*output_text(bench.memory, end) == "finished");
      check_world(bench);
    }
  }
}

TEST_CASE("a run that crashes while it recovers from a crash ends as if it had not") {
  const RunId id{"r"};
  for (int first = 1; first <= 9; ++first) {
    for (int second = 1; second <= 6; ++second) {
      CAPTURE(first);
      CAPTURE(second);
      Bench bench;
      live(bench, id, Crash::before_acknowledgement, first);
      live(bench, id, Crash::before_acknowledgement, second);
      const RunState end = carry_to_the_end(bench, id);
      CHECK(status_of(end) == RunStatus::done);
      check_world(bench);
    }
  }
}

TEST_CASE("events have dense sequence numbers and dropping subscribers changes nothing") {
  const RunId id{"r"};
  Bench watched;
  std::vector<std::uint64_t> seqs;
  {
    Engine engine(watched.options(watched.memory));
    const auto subscription = engine.subscribe([&seqs](const RunEvent& event) {
      if (const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event)) {
        seqs.push_back((*view)->record.seq);
      }
    });
    engine.start({watched.agent(), "go", id, nullptr}, [](const Result<RunId>&) {});
    watched.settle();
  }
  Bench alone;
  live(alone, id, Crash::before_write, 1'000'000);

  const auto a = load_run(watched.memory, id, UseSnapshot::no);
  const auto b = load_run(alone.memory, id, UseSnapshot::no);
  REQUIRE(a);
  REQUIRE(b);
  for (std::size_t i = 0; i < seqs.size(); ++i) CHECK(seqs[i] == i);
  CHECK(seqs.size() == a->run->length);
  CHECK(a->chain == b->chain);
}

TEST_CASE("a second driver of a run is refused until the first is gone") {
  const RunId id{"r"};
  Bench bench;
  Engine second(bench.options(bench.memory));
  {
    CrashingJournal stuck(bench.memory, Crash::before_acknowledgement, 3);
    Engine first(bench.options(stuck));
    first.start({bench.agent(), "go", id, nullptr}, [](const Result<RunId>&) {});
    bench.settle();
    const Status refused = second.resume(id);
    REQUIRE(!refused);
    CHECK(refused.error().code == ErrorCode::conflict);
  }
  CHECK(second.resume(id));
}

}  // namespace
}  // namespace pawl
