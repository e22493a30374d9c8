// A stage for tests about recorded runs: a store in memory, a scripted model, one tool that counts.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pawl/service/service.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/test_loop.h"

namespace pawl {

// Answers with its input and how often it was called; remembers the keys.
class CountingTool final : public Tool {
 public:
  struct Running final : Operation {
    void abort() override {}
  };

  explicit CountingTool(Loop& loop) : loop_(loop) {
    spec_.name = "note";
    spec_.effect = EffectClass::once;
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    keys.push_back(invocation.key);
    inputs.push_back(invocation.input);
    const std::string own = padding + "noted " + std::to_string(keys.size());
    const std::string text = same.empty() ? own : same;
    if (answers) {
      loop_.post([done, text] { done({ToolOutcome::Kind::succeeded, text, text.size()}); });
    }
    return std::make_unique<Running>();
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }

  std::vector<std::string> keys;
  std::vector<std::string> inputs;
  std::string padding;  // in front of every answer, to make it long
  std::string same;     // instead of every answer
  bool answers = true;

 private:
  Loop& loop_;
  ToolSpec spec_;
};

inline Script scripted(std::vector<ScriptReply> replies) {
  Script script;
  script.replies = std::move(replies);
  return script;
}

struct RunStage {
  TestLoop loop;
  MemoryJournal journal{loop};
  std::shared_ptr<CountingTool> tool = std::make_shared<CountingTool>(loop);
  std::shared_ptr<CallGate> gate;
  Script script;
  std::string model_refused = "nobody/knows";
  std::map<std::string, std::uint64_t> prices;  // of a token, by model; none: it costs nothing
  std::set<std::string> in_euros;               // models whose prices are not in dollars
  Engine engine;
  Service service{engine};

  explicit RunStage(Script replies)
      : script(std::move(replies)),
        engine(EngineOptions{loop,
                             {&journal, &journal, &journal, &journal, &journal, nullptr, &journal},
                             {},
                             source(),
                             "stage"}) {}

  AgentSource source() {
    return [this](const PinnedCharter& pinned) -> Result<PreparedAgent> {
      if (pinned.model == model_refused) {
        return Error{ErrorCode::invalid_argument, "nobody here executes " + pinned.model};
      }
      PreparedAgent made = agent();
      made.charter.model = pinned.model;
      put_price(made);
      return made;
    };
  }
  void put_price(PreparedAgent& made) const {
    const auto price = prices.find(made.charter.model);
    if (price == prices.end()) return;
    ResolvedTarget target;
    target.literal = made.charter.model;
    target.facts.prices = {in_euros.contains(target.literal) ? "EUR" : "USD", price->second,
                           price->second, 0, 0};
    target.facts.max_output_tokens = 1'000;
    made.targets = {std::move(target)};
  }
  PreparedAgent agent() {
    PreparedAgent made;
    made.charter.name = "stage";
    made.charter.instructions = "Go.";
    made.charter.model = "scripted";
    made.executor = make_scripted_executor(script, loop);
    made.tools.push_back(tool);
    made.gate = gate;
    put_price(made);
    return made;
  }
  RunId start(const std::string& id, const std::string& input = "go") {
    service.start({agent(), input, RunId{id}, nullptr},
                  [](const Result<RunId>& accepted) { CHECK(accepted); });
    loop.advance(300);
    return RunId{id};
  }
  std::vector<StoredRecord> records(const RunId& run) {
    return *journal.read(run, 0, std::size_t{1} << 30U);
  }
  Digest chain(const RunId& run) { return records(run).back().chain; }
};

// Writes `records` of `run` into another store, with a chain that fits.
inline void write_journal(MemoryJournal& journal, TestLoop& loop, const RunId& run,
                          const std::vector<Record>& records,
                          const std::vector<StoredBlob>& blobs = {}) {
  Digest chain = chain_origin(run);
  for (const Record& record : records) {
    Append append;
    append.run = run;
    append.epoch = 1;
    append.seq = record.seq;
    append.bytes = encode_record(record);
    append.chain = chain = chain_after(chain, append.bytes);
    if (record.seq == 0) {
      append.summary = RunSummary{run, "default", "stage", "running", "", 0, 0, 0};
      append.blobs = blobs;
    }
    journal.append(std::move(append), [](const Status& status) { CHECK(status); });
  }
  loop.run_posted();
}

inline std::vector<Record> decoded(const std::vector<StoredRecord>& stored) {
  std::vector<Record> records;
  for (const StoredRecord& one : stored) records.push_back(*decode_record(one.bytes));
  return records;
}

}  // namespace pawl
