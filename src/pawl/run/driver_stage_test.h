// A driver whose model is played by the test, with a store that may be slow or refuse.
#pragma once

#include <doctest/doctest.h>

#include "pawl/engine/engine.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

// Remembers what it is asked; the test gives the answers.
class HandExecutor final : public Executor {
 public:
  struct Asked {
    PhaseExecutionRequest request;
    PhaseEventSink sink;
    std::shared_ptr<int> aborts = std::make_shared<int>(0);
  };

  const ExecutorCapabilities& capabilities() const override { return capabilities_; }
  std::vector<ExecutorModelDescriptor> list_models() const override { return {}; }
  bool supports(std::string_view) const override { return true; }
  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override {
    asked.push_back({request, std::move(sink)});
    return std::make_unique<Aborting>(asked.back().aborts);
  }
  void reply(ReplyStop stop, const std::string& text = "text") {
    const PhaseEventSink sink = asked.back().sink;
    sink(TextDelta{text});
    sink(PhaseDone{PhaseReplied{stop, "", "hand"}});
  }

  std::vector<Asked> asked;

 private:
  struct Aborting final : Operation {
    explicit Aborting(std::shared_ptr<int> count) : aborts(std::move(count)) {}
    void abort() override { ++*aborts; }
    std::shared_ptr<int> aborts;
  };
  ExecutorCapabilities capabilities_ = [] {
    ExecutorCapabilities all;
    all.supports_conversation_replay = true;
    return all;
  }();
};

// Never answers; remembers how it was called.
class SilentTool final : public Tool {
 public:
  struct Nothing final : Operation {
    void abort() override {}
  };
  SilentTool() {
    spec_.name = "wait";
    spec_.effect = EffectClass::pure;
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)>) override {
    invoked.push_back(invocation);
    return std::make_unique<Nothing>();
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return std::make_unique<Nothing>();
  }

  void become(EffectClass effect) { spec_.effect = effect; }

  std::vector<ToolInvocation> invoked;

 private:
  ToolSpec spec_;
};

// A store that is slow to say that it has written, or does not write.
class SlowJournal final : public Journal {
 public:
  explicit SlowJournal(Journal& inner) : inner_(inner) {}
  Result<RunLease> acquire(const RunId& run) override { return inner_.acquire(run); }
  Status quarantine(const RunId& run, const std::string& why) override {
    return inner_.quarantine(run, why);
  }
  void append(Append append, StatusCallback done) override {
    if (refuses) return done(Error{ErrorCode::unavailable, "the disk says no"});
    inner_.append(std::move(append), [this, done = std::move(done)](const Status& status) {
      if (!slow) return done(status);
      held_.emplace_back([done, status] { done(status); });
    });
  }
  void catch_up() {
    slow = false;
    for (const auto& one : std::exchange(held_, {})) one();
  }

  bool slow = false;
  bool refuses = false;  // at once

 private:
  Journal& inner_;
  std::vector<std::function<void()>> held_;
};

struct Stage {
  TestLoop loop;
  MemoryJournal journal{loop};
  SlowJournal writer{journal};
  std::shared_ptr<HandExecutor> model = std::make_shared<HandExecutor>();
  std::shared_ptr<SilentTool> tool = std::make_shared<SilentTool>();
  Limits limits;
  std::map<std::string, std::string> defaults;
  std::string instructions = "Go.";
  CallbackRegistry callbacks;
  std::shared_ptr<const Processors> processors;
  std::uint64_t snapshot_bytes = kSnapshotBytesMin;
  std::unique_ptr<Engine> engine;
  const RunId id{"r"};

  PreparedAgent agent() {
    PreparedAgent made;
    made.charter.name = "stage";
    made.charter.instructions = instructions;
    made.charter.variables = defaults;
    made.charter.model = "hand";
    made.charter.limits = limits;
    made.charter.processors = processors;
    made.executor = model;
    made.tools = {tool};
    return made;
  }
  void new_process() {
    engine.reset();
    const AgentSource source = [this](const PinnedCharter&) -> Result<PreparedAgent> {
      return agent();
    };
    engine = std::make_unique<Engine>(EngineOptions{
        loop, {&writer, &journal, &journal, &journal}, callbacks, source, "stage", snapshot_bytes});
  }
  void start(std::shared_ptr<const InvocationContext> context = nullptr) {
    new_process();
    engine->start({agent(), "go", id, std::move(context)},
                  [](const Result<RunId>& accepted) { CHECK(accepted); });
    loop.run_posted();
  }
  void take_over() {
    new_process();
    REQUIRE(engine->resume(id));
    loop.run_posted();
  }
  // By another process: this one does not know of it before it looks.
  void post(const Event& event) { post_bytes(encode_event(event)); }
  void post_bytes(std::string body) {
    journal.post(id, 0, std::move(body), [](const Status& posted) { CHECK(posted); });
  }
  std::vector<std::string> events() {
    std::vector<std::string> names;
    const auto records = journal.read(id, 0, SIZE_MAX);
    for (const StoredRecord& one : *records) {
      names.emplace_back(name(decode_record(one.bytes)->event));
    }
    return names;
  }
  RunSummary listed() { return journal.list({id.text, "", "", 1})->front(); }
  std::size_t rows() { return journal.pending(id)->size(); }
};

}  // namespace
}  // namespace pawl
