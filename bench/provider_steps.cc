// What a step costs against a provider over HTTP: whole runs, with engine, journal, executor and
// client, on a store in memory or on SQLite. Beside them libcurl alone and bare sockets (the floor)
// make as many requests, each as large as one from the middle of such a run.
//   pawl_bench_provider steps RUNS STEPS AT_ONCE ROUNDS memory|sqlite BYTES
//   pawl_bench_provider grow STEPS memory|sqlite BYTES    one run: a step at 10, 100, 1,000, …
//   pawl_bench_provider beside STEPS BYTES    the same on SQLite with 63 short runs beside it
//   pawl_bench_provider taken STEPS BYTES     a run of so many steps is taken up beside 63 short
//   ones
//   pawl_bench_provider serve STEPS           the server alone, for a peer: prints its address, and
//                                             ends with its input
// BYTES is the length of a tool's result. CPU is that of this process: the server is another.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "bench/anthropic_at.h"
#include "bench/meter.h"
#include "bench/raw_curl.h"
#include "bench/raw_socket.h"
#include "bench/step_server.h"
#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/engine/engine.h"
#include "pawl/json.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/temp_directory.h"

namespace pawl::bench {
namespace {

constexpr std::string_view kModel = "claude-sonnet-4-5";
constexpr std::uint64_t kUnbounded = 1ULL << 60U;
constexpr std::uint64_t kBesideRuns = 63;
constexpr std::uint64_t kBesideSteps = 10;

enum class Place : std::uint8_t { memory, sqlite };

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

// Says how the conversation goes on, at the end of a result of so many bytes.
class NextTool final : public Tool {
 public:
  struct Nothing final : Operation {
    void abort() override {}
  };
  NextTool(Loop& loop, std::size_t bytes) : loop_(loop), bytes_(bytes) {
    spec_.name = "t";
    spec_.description = "Goes on.";
    spec_.effect = EffectClass::pure;
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    const auto input = parse_json(invocation.input);
    const std::string mark = step_mark(input->find("n")->as_uint64().value_or(0));
    std::string text;
    while (text.size() + mark.size() < bytes_) text += "a line \"of\" the result\n";
    text += mark;
    ++calls_;
    loop_.post([done = std::move(done), text = std::move(text)] {
      done({ToolOutcome::Kind::succeeded, text, text.size()});
    });
    return std::make_unique<Nothing>();
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }
  std::uint64_t calls() const { return calls_; }

 private:
  Loop& loop_;
  const std::size_t bytes_;
  ToolSpec spec_;
  std::uint64_t calls_ = 0;
};

// CPU that this thread has used. What it uses between two looks is one callback of the loop.
double thread_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

PreparedAgent agent_at(const std::string& url, Loop& loop, std::shared_ptr<HttpClient> client,
                       std::shared_ptr<Tool> tool) {
  PreparedAgent agent;
  agent.charter.name = "bench";
  agent.charter.instructions = "Go on as long as you are told to.";
  agent.charter.model = "anthropic/" + std::string(kModel);
  agent.charter.guards = {0, 0, 0};
  Limits& limits = agent.charter.limits;
  for (std::uint64_t* one :
       {&limits.steps, &limits.model_calls, &limits.tool_calls, &limits.time_ms, &limits.tokens,
        &limits.bytes_in, &limits.bytes_out}) {
    *one = kUnbounded;
  }
  agent.executor = make_provider_executor(anthropic_at(url), loop, std::move(client));
  agent.tools = {std::move(tool)};
  return agent;
}

class Runs {
 public:
  Runs(Place place, std::size_t bytes) : bytes_(bytes) {
    if (place == Place::memory) return;
    auto opened = SqliteJournal::open(directory_.path(), loop_);
    if (!opened) give_up(opened.error().message);
    sqlite_ = *std::move(opened);
  }

  std::uint64_t calls() const { return tool_->calls(); }
  std::uint64_t ended() const { return ended_; }

  // Runs against `url` from now on: the server there knows how many steps they take.
  void aim_at(const std::string& url) { agent_ = agent_at(url, loop_, client_, tool_); }

  RunId start() {
    const RunId run = make_run_id(loop_.wall_ms());
    engine().start({agent_, "Begin: " + step_mark(0), run, nullptr}, [](const Result<RunId>& id) {
      if (!id) give_up(id.error().message);
    });
    return run;
  }

  // Leaves all runs as a crash would.
  void drop_engine() { engine_.reset(); }
  // Goes on with one of them against `url`. `taken` becomes true.
  void take_up(const RunId& run, const std::string& url, bool& taken) {
    resumed_ = agent_at(url, loop_, client_, tool_);
    taken_run_ = run.text;
    engine().take_up(run, [&taken](const Status& status) {
      if (!status) give_up(status.error().message);
      taken = true;
    });
  }

  void run(std::uint64_t runs, std::size_t at_once) {
    left_ = runs;
    const std::uint64_t wanted = ended_ + runs;
    for (std::size_t i = 0; i < at_once && left_ > 0; ++i, --left_) start();
    until([&] { return ended_ == wanted; });
  }

  // Looking at the clock of the thread is a system call, and a run over the wire has some thirty
  // callbacks a step.
  void until(const std::function<bool()>& finished) {
    if (callbacks_ == Callbacks::timed) return until_timed(finished);
    loop_.run_until(finished);
  }
  // The longest callback from now on is in take_longest_ms().
  void time_callbacks() { callbacks_ = Callbacks::timed; }

  // In a callback of the loop's.
  void soon(std::function<void()> work) { loop_.post(std::move(work)); }
  bool taken_has_ended() const { return taken_run_.empty(); }

  void go_on_starting() { left_ = kUnbounded; }
  double take_longest_ms() { return std::exchange(longest_s_, 0) * 1e3; }

 private:
  void until_timed(const std::function<bool()>& finished) {
    double before = thread_cpu_s();
    loop_.run_until([&] {
      const double now = thread_cpu_s();
      longest_s_ = std::max(longest_s_, now - before);
      const bool over = finished();
      before = thread_cpu_s();
      return over;
    });
  }

  Engine& engine() {
    if (engine_) return *engine_;
    const Store store = sqlite_ ? Store{sqlite_.get(), sqlite_.get(), sqlite_.get(), sqlite_.get()}
                                : Store{&memory_, &memory_, &memory_, &memory_};
    const AgentSource source = [this](const PinnedCharter&) -> Result<PreparedAgent> {
      return resumed_;
    };
    engine_.emplace(EngineOptions{loop_, store, {}, source, "bench"});
    engine_->on_ended([this](const RunId& run, const Status& status) {
      if (!status) give_up(status.error().message);
      if (!sqlite_) memory_.remove(run, [](const Status&) {});
      ++ended_;
      if (run.text == taken_run_) taken_run_.clear();
      if (left_ == 0) return;
      --left_;
      start();
    });
    return *engine_;
  }

  EpollLoop loop_;
  std::shared_ptr<HttpClient> client_ = make_curl_client(loop_);
  TempDirectory directory_;
  std::unique_ptr<SqliteJournal> sqlite_;
  MemoryJournal memory_{loop_};
  std::optional<Engine> engine_;
  const std::size_t bytes_;
  std::shared_ptr<NextTool> tool_ = std::make_shared<NextTool>(loop_, bytes_);
  PreparedAgent agent_;
  PreparedAgent resumed_;
  std::uint64_t left_ = 0;
  std::uint64_t ended_ = 0;
  std::string taken_run_;  // until it has ended
  enum class Callbacks : std::uint8_t { untimed, timed } callbacks_ = Callbacks::untimed;
  double longest_s_ = 0;
};

// The request in the middle of such a run.
std::string middle_request(std::uint64_t steps, std::size_t bytes) {
  std::string messages = R"({"role":"user","content":"Begin: )" + step_mark(0) + R"("})";
  for (std::uint64_t i = 1; i <= steps / 2; ++i) {
    const std::string id = "toolu_" + std::to_string(i);
    messages += R"(,{"role":"assistant","content":[{"type":"tool_use","id":")" + id +
                R"(","name":"t","input":{"n":)" + std::to_string(i) + R"(,"by":1}}]})";
    messages += R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id +
                R"(","content":")" + std::string(bytes, 'x') + step_mark(i) + R"("}]})";
  }
  return R"({"model":"claude-sonnet-4-5","max_tokens":1000,"stream":true,"system":"Go on.",)"
         R"("tools":[{"name":"t","description":"Goes on.","input_schema":{"type":"object"}}],)"
         R"("messages":[)" +
         messages + "]}";
}

// Others on the machine can only make a round dearer.
double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

struct Load {
  std::uint64_t runs;
  std::uint64_t steps;
  std::size_t at_once;
  int rounds;
};

void measure_steps(const Load& load, Place place, std::size_t bytes) {
  const StepServerProcess server(load.steps);
  const std::string body = middle_request(load.steps, bytes);
  const std::vector<std::string> headers = {"x-api-key: key", "anthropic-version: 2023-06-01"};
  Runs ours(place, bytes);
  ours.aim_at(server.url());
  ours.run(load.at_once, load.at_once);  // what the first ones need once
  const std::uint64_t count = load.runs * load.steps;
  std::vector<double> step_us;
  std::vector<double> raw_us;
  std::vector<double> floor_us;
  ours.take_longest_ms();
  for (int round = 0; round < load.rounds; ++round) {
    const std::uint64_t calls_before = ours.calls();
    double before = cpu_s();
    ours.run(load.runs, load.at_once);
    step_us.push_back((cpu_s() - before) / static_cast<double>(count) * 1e6);
    // A run that a limit stopped would be divided by steps that it did not take.
    const std::uint64_t calls = ours.calls() - calls_before;
    if (calls != load.runs * (load.steps - 1)) give_up("the runs took other numbers of steps");
    before = cpu_s();
    run_raw_curl(server.url() + "/v1/messages", body, count, load.at_once, headers);
    raw_us.push_back((cpu_s() - before) / static_cast<double>(count) * 1e6);
    before = cpu_s();
    run_raw_sockets(server.port(), "/v1/messages", body, count, load.at_once,
                    std::string(kStepResponseEnd));
    floor_us.push_back((cpu_s() - before) / static_cast<double>(count) * 1e6);
  }
  const double ours_us = least(step_us);
  const double raw = least(raw_us);
  fmt::print(
      "{} runs of {} steps, {} at a time, results of {} bytes, {}: {:.1f} us of CPU a step; "
      "libcurl alone {:.1f} us a request; ratio {:.2f}; floor {:.1f} us (least of {} rounds)\n",
      load.runs, load.steps, load.at_once, bytes, place == Place::memory ? "memory" : "SQLite",
      ours_us, raw, ours_us / raw, least(floor_us), load.rounds);
}

// One run. A step at M is the mean of the steps before it: a tenth of M, five at least.
void follow(Runs& runs, std::uint64_t steps) {
  const std::uint64_t begun = runs.calls();
  const std::uint64_t ended = runs.ended();
  runs.start();
  for (std::uint64_t mark = 10; mark <= steps; mark *= 10) {
    const std::uint64_t measured = std::max<std::uint64_t>(mark / 10, 5);
    runs.until([&] { return runs.calls() - begun >= mark - 1 - measured; });
    const Meter meter;
    const std::uint64_t from = runs.calls();
    runs.until([&] { return runs.calls() - begun >= mark - 1; });
    const Cost cost = cost_since(meter, static_cast<double>(runs.calls() - from));
    fmt::print("step {}: {:.0f} us of CPU, {:.0f} us, {:.0f} bytes written; {} KiB at most\n", mark,
               cost.cpu_us, 1e6 / cost.steps_per_s, cost.disk_bytes, peak_kib());
    std::fflush(stdout);
  }
  runs.until([&] { return runs.ended() > ended; });
}

// Requests as large as those of the steps that follow() names.
void follow_raw(const StepServerProcess& server, std::uint64_t steps, std::size_t bytes) {
  constexpr std::uint64_t kRequests = 20;
  for (std::uint64_t mark = 10; mark <= steps; mark *= 10) {
    const std::string body = middle_request(2 * mark, bytes);
    double before = cpu_s();
    run_raw_curl(server.url() + "/v1/messages", body, kRequests, 1);
    const double curl = (cpu_s() - before) / static_cast<double>(kRequests) * 1e6;
    before = cpu_s();
    run_raw_sockets(server.port(), "/v1/messages", body, kRequests, 1,
                    std::string(kStepResponseEnd));
    const double floor = (cpu_s() - before) / static_cast<double>(kRequests) * 1e6;
    fmt::print("a request like that of step {}: libcurl alone {:.0f} us of CPU; floor {:.0f} us\n",
               mark, curl, floor);
  }
}

void measure_growth(std::uint64_t steps, Place place, std::size_t bytes) {
  fmt::print("one run of {} steps, {}, results of {} bytes\n", steps,
             place == Place::memory ? "memory" : "SQLite", bytes);
  const StepServerProcess server(steps);
  Runs runs(place, bytes);
  runs.aim_at(server.url());
  follow(runs, steps);
  follow_raw(server, steps, bytes);
}

void measure_beside(std::uint64_t steps, std::size_t bytes) {
  fmt::print("a run of {} steps on SQLite, results of {} bytes, with {} runs of {} beside it\n",
             steps, bytes, kBesideRuns, kBesideSteps);
  const StepServerProcess others(kBesideSteps);
  const StepServerProcess server(steps);
  Runs runs(Place::sqlite, bytes);
  runs.time_callbacks();
  runs.aim_at(server.url());
  runs.start();
  runs.aim_at(others.url());
  for (std::uint64_t i = 0; i < kBesideRuns; ++i) runs.start();
  runs.go_on_starting();
  const Meter meter;
  // Most of the calls are the others': the long run makes one where each of them makes one.
  const std::uint64_t calls = steps * (kBesideRuns + 1) * (kBesideSteps - 1) / kBesideSteps;
  runs.until([&] { return runs.calls() >= calls; });
  const Cost cost = cost_since(meter, static_cast<double>(runs.calls()));
  fmt::print(
      "{:.0f} us of CPU a step, {:.0f} steps/s; longest callback {:.2f} ms; {} KiB at most\n",
      cost.cpu_us, cost.steps_per_s, runs.take_longest_ms(), peak_kib());
}

void measure_taken(std::uint64_t steps, std::size_t bytes) {
  fmt::print("a run of {} steps, taken up on SQLite beside {} of {}, results of {} bytes\n", steps,
             kBesideRuns, kBesideSteps, bytes);
  constexpr std::uint64_t kLeftSteps = 20;
  const StepServerProcess others(kBesideSteps);
  const StepServerProcess server(steps + kLeftSteps);
  Runs runs(Place::sqlite, bytes);
  runs.aim_at(server.url());
  const RunId run = runs.start();
  runs.until([&] { return runs.calls() >= steps; });
  runs.drop_engine();
  runs.aim_at(others.url());
  for (std::uint64_t i = 0; i < kBesideRuns; ++i) runs.start();
  runs.go_on_starting();
  runs.time_callbacks();
  const auto longest_until = [&runs](const std::string& what, const std::function<bool()>& over) {
    static_cast<void>(runs.take_longest_ms());
    const Meter meter;
    const std::uint64_t from = runs.calls();
    runs.until(over);
    const Cost cost = cost_since(meter, static_cast<double>(runs.calls() - from));
    fmt::print("{}: longest callback {:.2f} ms, {} calls, {:.0f} us of CPU each\n", what,
               runs.take_longest_ms(), runs.calls() - from, cost.cpu_us);
  };
  const std::uint64_t begun = runs.calls();
  longest_until("before", [&] { return runs.calls() - begun > 5'000; });
  bool taken = false;
  const auto take_up = [&] { runs.take_up(run, server.url(), taken); };
  runs.soon(take_up);
  longest_until("until it is driven", [&] { return taken; });
  longest_until("until it has ended", [&] { return runs.taken_has_ended(); });
}

void serve(std::uint64_t steps) {
  const StepServerProcess server(steps);
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  while (std::getchar() != EOF) continue;
}

std::optional<Place> place_named(std::string_view name) {
  if (name == "memory") return Place::memory;
  if (name == "sqlite") return Place::sqlite;
  return std::nullopt;
}

int run(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const auto number = [&](std::size_t at) { return std::strtoull(argv[at + 1], nullptr, 10); };
  if (words.size() == 7 && words[0] == "steps" && place_named(words[5])) {
    measure_steps({number(1), number(2), number(3), static_cast<int>(number(4))},
                  *place_named(words[5]), number(6));
  } else if (words.size() == 4 && words[0] == "grow" && place_named(words[2])) {
    measure_growth(number(1), *place_named(words[2]), number(3));
  } else if (words.size() == 3 && words[0] == "beside") {
    measure_beside(number(1), number(2));
  } else if (words.size() == 2 && words[0] == "serve") {
    serve(number(1));
  } else if (words.size() == 3 && words[0] == "taken") {
    measure_taken(number(1), number(2));
  } else {
    fmt::print(stderr, "see the top of bench/provider_steps.cc\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  return pawl::bench::run(argc, argv);
}
