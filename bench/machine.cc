// What a step of a machine costs, beside the same work as separate runs of one node: many workers,
// a map of many items, a tree of agents, a long conversation. All models are scripted, the tool
// answers at once, and the store is in memory: what is measured is the kernel and the driver.
//   pawl_bench_machine workers N    workers of one run, all at once
//   pawl_bench_machine map N        items of a map, 64 at a time
//   pawl_bench_machine agents N     runs that one run starts, 64 at a time
//   pawl_bench_machine talk N       messages of one conversation
//   pawl_bench_machine ROUNDS       all of them, as docs/performance.md has them
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/meter.h"
#include "bench/workload.h"
#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/engine/engine.h"
#include "pawl/json.h"
#include "pawl/library/prepare.h"
#include "pawl/machine.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/journal_memory/journal_memory.h"

namespace pawl::bench {
namespace {

constexpr std::uint64_t kCallsOfOne = 2;  // of the tool, by a worker, an item or an agent
constexpr std::uint64_t kStepsOfOne = kCallsOfOne + 1;
constexpr std::size_t kAtOnce = 64;
constexpr std::size_t kResultBytes = 200;
constexpr std::uint64_t kSpawnedByReply = 100;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

class Machines {
 public:
  Machines() {
    engine_.on_ended([this](const RunId& run, const Status& status) { note_end(run, status); });
  }

  std::shared_ptr<Executor> model(std::vector<ScriptReply> replies) {
    Script script;
    script.replies = std::move(replies);
    return make_scripted_executor(std::move(script), loop_);
  }
  std::shared_ptr<Executor> scripted(Script script) {
    return make_scripted_executor(std::move(script), loop_);
  }
  // Calls the tool so often, and then something else.
  std::shared_ptr<Executor> worker_model(std::uint64_t calls, const ScriptReply& last) {
    std::vector<ScriptReply> replies(calls, ScriptReply::call("work"));
    replies.push_back(last);
    return model(std::move(replies));
  }
  const std::shared_ptr<Tool>& tool() const { return tool_; }

  // A run of one node with so many calls.
  PreparedAgent single(std::uint64_t calls) {
    MachineBuilder one("one");
    one.node("only").instructions("Go on.").executor(
        worker_model(calls, ScriptReply::say("That was all.")));
    return ready(one);
  }
  PreparedAgent ready(MachineBuilder& machine) {
    JsonObject limits;
    for (const char* const name : {"steps", "model_calls", "tool_calls"}) {
      limits.set(name, Json(std::uint64_t{1'000'000}));
    }
    limits.set("branches", Json(std::uint64_t{100'000}));
    machine.set("limits", Json(std::move(limits)));
    machine.set("guards", Json(JsonObject()));
    machine.tool(tool_);
    auto agent = machine.build();
    if (!agent) give_up(agent.error().message);
    PreparedAgent made = prepare(*agent);
    made.charter.guards = {0, 0, 0};
    made.charter.limits.tokens = made.charter.limits.time_ms = 1ULL << 50U;
    made.charter.limits.bytes_in = made.charter.limits.bytes_out = 1ULL << 50U;
    return made;
  }

  // So many runs of the agent, some at a time. What a step of them and of those that they start
  // took, in microseconds.
  double run(const PreparedAgent& agent, std::uint64_t runs) {
    know(agent);
    steps_ = 0;
    const Meter meter;
    std::uint64_t left = runs;
    std::uint64_t ended = 0;
    on_ended_ = [&] {
      ++ended;
      if (left == 0) return;
      --left;
      start(agent);
    };
    for (std::size_t i = 0; i < kAtOnce && left > 0; ++i, --left) start(agent);
    loop_.run_until([&] { return ended == runs; });
    return cost_since(meter, static_cast<double>(steps_)).cpu_us;
  }
  // Those that others start as their agents are counted, too.
  void know(const PreparedAgent& agent) { agents_[agent.charter.name] = agent; }

 private:
  void start(const PreparedAgent& agent) {
    engine_.start({agent, "go", std::nullopt, nullptr}, [](const Result<RunId>& id) {
      if (!id) give_up(id.error().message);
    });
  }
  void note_end(const RunId& run, const Status& status) {
    if (!status) give_up(status.error().message);
    const Run* last = engine_.leaving(run);
    if (last == nullptr) give_up("an end of nothing");
    const RunState& state = last->state();
    if (!std::holds_alternative<Finished>(state.life)) return;
    if (status_of(state) != RunStatus::done) {
      give_up("a run is " + std::string(name(status_of(state))) + ": " +
              std::string(name(stop_reason_of(state))));
    }
    steps_ += state.tally.steps;
    const bool is_child = !state.lineage.empty();
    if (!is_child) journal_.remove(run, [](const Status&) {});
    if (!is_child && on_ended_) on_ended_();
  }

  EpollLoop loop_;
  MemoryJournal journal_{loop_};
  std::shared_ptr<Tool> tool_ = make_echo_tool(loop_, kResultBytes);
  std::map<std::string, PreparedAgent> agents_;
  std::function<void()> on_ended_;
  std::uint64_t steps_ = 0;
  Engine engine_{EngineOptions{loop_,
                               {&journal_, &journal_, &journal_, &journal_},
                               {},
                               [this](const PinnedCharter& pinned) -> Result<PreparedAgent> {
                                 const auto found = agents_.find(pinned.name);
                                 if (found != agents_.end()) return found->second;
                                 return Error{ErrorCode::not_found, "no agent " + pinned.name};
                               },
                               "bench"}};
};

// Steps of the machine and of the same work as separate runs, in microseconds of CPU.
struct Figure {
  double us = 0;
  double separate_us = 0;
};

// As many at least as are at once, so that what the first one needs is not all that is measured.
double separate_runs(Machines& machines, std::uint64_t count) {
  const PreparedAgent one = machines.single(kCallsOfOne);
  machines.run(one, kAtOnce);
  return machines.run(one, std::max<std::uint64_t>(count, 4 * kAtOnce));
}

// Workers that one node starts, a hundred a reply, and that act beside each other. The node hears
// of each of them that ends.
Figure measure_workers(std::uint64_t count) {
  Machines machines;
  Script lead;
  lead.after_last = Script::AfterLast::repeats_last;
  for (std::uint64_t left = count; left > 0;) {
    const std::uint64_t some = std::min(left, kSpawnedByReply);
    lead.replies.push_back(ScriptReply::call_all(
        std::vector<ScriptCall>(some, ScriptCall{"spawn_hand", R"({"input":"go"})"})));
    left -= some;
  }
  lead.replies.push_back(ScriptReply::say("Heard."));
  MachineBuilder swarm("swarm");
  swarm.node("lead")
      .instructions("Start them.")
      .executor(machines.scripted(std::move(lead)))
      .starts("hand", "hand");
  swarm.node("hand").worker().instructions("Work.").executor(
      machines.worker_model(kCallsOfOne, ScriptReply::call("cede", R"({"content":"done"})")));
  const PreparedAgent agent = machines.ready(swarm);
  const double separate = separate_runs(machines, count);
  return {machines.run(agent, 1), separate};
}

// Items of a list, each an instance of its own.
Figure measure_map(std::uint64_t count) {
  Machines machines;
  std::string list = R"({"files":[)";
  for (std::uint64_t i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + std::to_string(i);
  MachineBuilder files("files");
  files.node("lister")
      .instructions("List them.")
      .output(R"({"type":"object"})")
      .executor(machines.model({ScriptReply::say(list + "]}")}));
  files.node("checker")
      .instructions("Check one.")
      .executor(machines.worker_model(kCallsOfOne, ScriptReply::say("Good.")));
  files.set("flow", *parse_json(R"({"phases":[{"name":"list","node":"lister"},
      {"name":"check","node":"checker","after":["list"],"prompt":"Check {{item}}",
       "map":{"over":"/phases/list/output/files","max":64}}]})"));
  const PreparedAgent agent = machines.ready(files);
  const double separate = separate_runs(machines, count);
  return {machines.run(agent, 1), separate};
}

// Runs that one run starts, with journals of their own.
Figure measure_agents(std::uint64_t count) {
  Machines machines;
  std::vector<ScriptReply> lead;
  for (std::uint64_t left = count; left > 0;) {
    const std::uint64_t some = std::min(left, kSpawnedByReply);
    lead.push_back(ScriptReply::call_all(
        std::vector<ScriptCall>(some, ScriptCall{"agent__crew", R"({"input":"go"})"})));
    left -= some;
  }
  lead.push_back(ScriptReply::say("All of it is done."));
  MachineBuilder campaign("campaign");
  campaign.node("lead").instructions("Start them.").executor(machines.model(std::move(lead)));
  PreparedAgent agent = machines.ready(campaign);
  CharterAgent crew;
  crew.name = "crew";
  crew.text = "name: one";
  agent.charter.machine.agents = {crew};
  agent.charter.machine.subagents.descendants = static_cast<std::uint32_t>(count);
  agent.charter.machine.subagents.at_a_time = kAtOnce;
  PreparedAgent member = machines.single(kCallsOfOne);
  member.charter.name = "crew";
  machines.know(member);
  const double separate = separate_runs(machines, count);
  return {machines.run(agent, 1), separate};
}

// One conversation, beside short ones with as many steps in all.
Figure measure_talk(std::uint64_t messages) {
  constexpr std::uint64_t kMessagesOfStep = 2;
  Machines machines;
  const std::uint64_t steps = messages / kMessagesOfStep;
  const double separate = separate_runs(machines, std::max<std::uint64_t>(steps / kStepsOfOne, 1));
  return {machines.run(machines.single(steps - 1), 1), separate};
}

struct Measure {
  std::string_view name;
  std::string_view what;
  Figure (*measure)(std::uint64_t);
  std::vector<std::uint64_t> sizes;
};

const std::vector<Measure>& measures() {
  static const std::vector<Measure> all = {
      {"workers", "workers in one run", measure_workers, {10, 100, 1'000, 10'000}},
      {"map", "items of a map, 64 at a time", measure_map, {10, 100, 1'000, 10'000}},
      {"agents", "runs that one run starts, 64 at a time", measure_agents, {10, 100, 1'000}},
      {"talk", "messages of one conversation", measure_talk, {200, 2'000, 20'000}},
  };
  return all;
}

// The cheapest of the rounds: others can only make it dearer.
void print_figure(const Measure& what, std::uint64_t size, int rounds) {
  Figure best{1e12, 1e12};
  for (int round = 0; round < rounds; ++round) {
    const Figure figure = what.measure(size);
    best.us = std::min(best.us, figure.us);
    best.separate_us = std::min(best.separate_us, figure.separate_us);
  }
  fmt::print("{} {}: {:.1f} us of CPU a step; as separate runs {:.1f} us; ratio {:.2f}; {} KiB\n",
             size, what.what, best.us, best.separate_us, best.us / best.separate_us, peak_kib());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && std::atoi(words[0].c_str()) > 0) {
    for (const Measure& one : measures()) {
      for (const std::uint64_t size : one.sizes) {
        print_figure(one, size, size >= 10'000 ? 1 : std::atoi(words[0].c_str()));
      }
    }
    return 0;
  }
  for (const Measure& one : measures()) {
    if (words.size() != 2 || words[0] != one.name) continue;
    print_figure(one, std::strtoull(words[1].c_str(), nullptr, 10), 1);
    return 0;
  }
  fmt::print(stderr, "see the top of bench/machine.cc\n");
  return 2;
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  return pawl::bench::run(argc, argv);
}
