// What the kernel alone costs. One step is a model's reply with one call, and the call's result.
//   build/release/bin/pawl_bench_kernel --benchmark_min_time=2
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "pawl/kernel/codec.h"
#include "pawl/kernel/kernel.h"

namespace pawl {
namespace {

constexpr std::uint64_t kStepsOfOneRun = 100;

RunStarted a_start() {
  RunStarted start;
  start.run = RunId{"0193b1c2-bench"};
  start.name = "bench";
  start.node = "main";
  start.limits.steps = start.limits.model_calls = start.limits.tool_calls = UINT64_MAX;
  start.limits.tokens = start.limits.bytes_in = start.limits.bytes_out = UINT64_MAX;
  start.tools = {{"search", EffectClass::once, OnDoubt::wait, {}}};
  start.input = Content("Find the failing test and fix it.");
  return start;
}

ModelReplied a_reply(std::uint64_t step) {
  ModelReplied reply;
  reply.blocks.emplace_back(TextBlock{Content("I will look at the next file.")});
  CallBlock call{"search",
                 Content(R"({"path":"src/file)" + std::to_string(step) + R"(.cc","line":42})"),
                 "toolu_01", ""};
  call.judgement = CallJudgement::allowed();
  reply.blocks.emplace_back(std::move(call));
  reply.usage.input_tokens = 1200;
  reply.usage.output_tokens = 60;
  reply.stop = ReplyStop::tool_use;
  return reply;
}

ToolFinished a_result() {
  ToolFinished result;
  result.content = Content(std::string(200, 'r'));
  result.content_length = 200;
  return result;
}

// Runs one run of kStepsOfOneRun steps, and hands every record to `keep`.
template <class Keep>
void run_steps(const std::vector<ModelReplied>& replies, const ToolFinished& result, Keep keep) {
  Run run;
  Stamp now{1, 1'700'000'000'000, 0};
  keep(*advance(run, a_start(), now));
  for (const ModelReplied& prepared : replies) {
    ModelReplied reply = prepared;
    reply.effect = run->open.front().id;
    now.elapsed_ms += 10;
    keep(*advance(run, std::move(reply), now));
    ToolFinished finished = result;
    finished.call = run->calls.front().id;
    finished.effect = run->open.front().id;
    now.elapsed_ms += 5;
    keep(*advance(run, std::move(finished), now));
  }
  benchmark::DoNotOptimize(run->tally.steps);
}

std::vector<ModelReplied> replies() {
  std::vector<ModelReplied> all;
  for (std::uint64_t i = 0; i < kStepsOfOneRun; ++i) all.push_back(a_reply(i));
  return all;
}

void count_steps(benchmark::State& state) {
  state.SetItemsProcessed(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(state.iterations()) * kStepsOfOneRun));
}

void advance_steps(benchmark::State& state) {
  const auto all = replies();
  const ToolFinished result = a_result();
  for (auto _ : state) {
    run_steps(all, result, [](const Record& record) { benchmark::DoNotOptimize(record.seq); });
  }
  count_steps(state);
}
BENCHMARK(advance_steps);

void advance_and_encode(benchmark::State& state) {
  const auto all = replies();
  const ToolFinished result = a_result();
  for (auto _ : state) {
    run_steps(all, result,
              [](const Record& record) { benchmark::DoNotOptimize(encode_record(record).data()); });
  }
  count_steps(state);
}
BENCHMARK(advance_and_encode);

void advance_encode_and_chain(benchmark::State& state) {
  const auto all = replies();
  const ToolFinished result = a_result();
  std::size_t bytes = 0;
  for (auto _ : state) {
    Digest chain = chain_origin(RunId{"0193b1c2-bench"});
    run_steps(all, result, [&](const Record& record) {
      const std::string encoded = encode_record(record);
      chain = chain_after(chain, encoded);
      bytes += encoded.size();
    });
    benchmark::DoNotOptimize(chain);
  }
  count_steps(state);
  state.counters["bytes/step"] =
      static_cast<double>(bytes) / static_cast<double>(state.iterations()) / kStepsOfOneRun;
}
BENCHMARK(advance_encode_and_chain);

// A run of so many instances, all of which await their model; with a budget, so that what they set
// aside counts.
struct Crowd {
  Run run;
  Stamp now{1, 1'700'000'000'000, 0};

  explicit Crowd(std::int64_t instances) {
    RunStarted start = a_start();
    start.limits.branches = UINT64_MAX;
    start.guards = {0, 0, 0};
    start.limits.cost_pico = UINT64_MAX / 2;
    start.limits.budget_tokens = UINT64_MAX / 2;
    start.prices.input = start.prices.output = 1;
    take(std::move(start));
    for (std::int64_t i = 1; i < instances; ++i) {
      take(InstanceSpawned{kRootInstance, "worker", Content("Look at one file.")});
    }
  }

  Record take(Event event) {
    now.elapsed_ms += 5;
    auto record = advance(run, std::move(event), now);
    if (!record) std::abort();
    return *std::move(record);
  }
};

// A step of one of them: its model replies, its call ends.
void step_in_a_crowd(benchmark::State& state) {
  Crowd crowd(state.range(0));
  const auto all = replies();
  const ToolFinished result = a_result();
  std::uint64_t i = 0;
  for (auto _ : state) {
    ModelReplied reply = all[i++ % all.size()];
    const OpenEffect asked = crowd.run->open[i * 37 % crowd.run->open.size()];
    reply.instance = asked.instance;
    reply.effect = asked.id;
    const Record replied = crowd.take(std::move(reply));
    ToolFinished finished = result;
    const auto& started = std::get<RunTool>(replied.effects.front());
    finished.instance = asked.instance;
    finished.call = started.call;
    finished.effect = started.effect;
    benchmark::DoNotOptimize(crowd.take(std::move(finished)).seq);
  }
}
BENCHMARK(step_in_a_crowd)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);

// Another process takes the run up: every model call is charged and made again.
void attach(benchmark::State& state) {
  const Crowd crowd(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    Crowd again = crowd;
    ++again.now.epoch;
    state.ResumeTiming();
    benchmark::DoNotOptimize(again.take(DriverAttached{"p2"}).effects.size());
  }
}
BENCHMARK(attach)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);

std::vector<std::string> journal() {
  std::vector<std::string> records;
  run_steps(replies(), a_result(),
            [&](const Record& record) { records.push_back(encode_record(record)); });
  return records;
}

void decode_and_fold(benchmark::State& state) {
  const auto records = journal();
  for (auto _ : state) {
    Run run;
    for (const std::string& bytes : records) {
      const auto record = decode_record(bytes);
      benchmark::DoNotOptimize(fold(run, *record).has_value());
    }
  }
  count_steps(state);
}
BENCHMARK(decode_and_fold);

void snapshot(benchmark::State& state) {
  Run run;
  for (const std::string& bytes : journal()) {
    if (!fold(run, *decode_record(bytes))) state.SkipWithError("the journal does not fold");
  }
  for (auto _ : state) benchmark::DoNotOptimize(encode_snapshot(run).size());
  state.counters["bytes"] = static_cast<double>(encode_snapshot(run).size());
}
BENCHMARK(snapshot);

}  // namespace
}  // namespace pawl

BENCHMARK_MAIN();
