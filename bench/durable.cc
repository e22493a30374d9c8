// A small driver that measures durable runs side by side with the same runs in memory and with raw
// grouped SQLite inserts of the same bytes:
//   pawl_bench_durable steps RUNS STEPS BYTES [DIR]   steps/s, CPU and bytes written a step
//   pawl_bench_durable open DIR                      opens the newest run of a store made by it
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pawl/adapter/executor_scripted/executor_scripted.h"
#include "pawl/adapter/journal_memory/journal_memory.h"
#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/runtime/asio_loop.h"
#include "pawl/runtime/engine.h"

namespace pawl {
namespace {

// Answers at once with a result of the wanted size, a different one each time.
class EchoTool : public Tool {
 public:
  EchoTool(Loop& loop, std::size_t bytes) : loop_(loop), bytes_(bytes) {
    spec_.name = "echo";
    spec_.effect = EffectClass::pure;
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    std::string content = invocation.key;
    while (content.size() < bytes_) content += content;
    content.resize(bytes_);
    auto answer = std::make_unique<Answer>();
    loop_.post([wanted = answer->wanted, done = std::move(done), content = std::move(content)] {
      if (*wanted) done({ToolOutcome::Kind::succeeded, content, content.size()});
    });
    return answer;
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }

 private:
  struct Answer : Operation {
    std::shared_ptr<bool> wanted = std::make_shared<bool>(true);
    ~Answer() override { *wanted = false; }
    void abort() override {}
  };
  Loop& loop_;
  std::size_t bytes_;
  ToolSpec spec_;
};

RunnableAgent agent_of(Loop& loop, std::uint64_t steps, std::size_t bytes) {
  RunnableAgent agent;
  agent.charter.name = "bench";
  agent.charter.instructions = "x";
  agent.charter.model = "scripted";
  agent.charter.limits.steps = steps;
  agent.charter.limits.model_calls = UINT32_MAX;
  agent.charter.limits.tool_calls = UINT32_MAX;
  agent.charter.limits.tokens = UINT64_MAX / 2;
  agent.charter.limits.bytes_in = UINT64_MAX / 2;
  agent.charter.limits.bytes_out = UINT64_MAX / 2;
  Script script;
  script.replies = {ScriptReply::call("echo", R"({"n":{{n}}})")};
  script.after_last = Script::AfterLast::repeats_last;
  agent.executor = make_scripted_executor(script, loop);
  agent.tools = {std::make_shared<EchoTool>(loop, bytes)};
  return agent;
}

double now_s() {
  using std::chrono::steady_clock;
  return std::chrono::duration<double>(steady_clock::now().time_since_epoch()).count();
}

double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::uint64_t written_bytes() {
  std::uint64_t bytes = 0;
  std::FILE* file = std::fopen("/proc/self/io", "r");
  if (file == nullptr) return 0;
  char line[128];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long long value = 0;
    if (std::sscanf(line, "write_bytes: %llu", &value) == 1) bytes = value;
  }
  std::fclose(file);
  return bytes;
}

struct Load {
  std::uint64_t runs;
  std::uint64_t steps;
  std::size_t bytes;
};

void measure(const std::string& what, AsioLoop& loop, Store store, const Load& load) {
  Engine engine({loop, store, {}, {}, "bench"});
  std::uint64_t ended = 0;
  engine.on_ended([&ended](const RunId&, const Status& status) {
    if (!status) fmt::print(stderr, "failed: {}\n", status.error().message);
    ++ended;
  });
  const double wall = now_s();
  const double cpu = cpu_s();
  const std::uint64_t written = written_bytes();
  for (std::uint64_t i = 0; i < load.runs; ++i) {
    engine.start({agent_of(loop, load.steps, load.bytes), "go", std::nullopt, nullptr},
                 [](const Result<RunId>&) {});
  }
  loop.run_until([&] { return ended == load.runs; });
  const auto steps = static_cast<double>(load.runs * load.steps);
  fmt::print("{:10} {:6} runs x {:7} steps: {:9.0f} steps/s, {:6.1f} us CPU/step, {:6.0f} B/step\n",
             what, load.runs, load.steps, steps / (now_s() - wall), (cpu_s() - cpu) / steps * 1e6,
             static_cast<double>(written_bytes() - written) / steps);
}

int steps(const Load& load, const std::string& directory) {
  AsioLoop loop;
  {
    MemoryJournal memory(loop);
    measure("memory", loop, {&memory, &memory, &memory, &memory}, load);
  }
  auto journal = SqliteJournal::open(directory, loop);
  if (!journal) {
    fmt::print(stderr, "{}\n", journal.error().message);
    return 1;
  }
  SqliteJournal& sqlite = **journal;
  measure("durable", loop, {&sqlite, &sqlite, &sqlite, &sqlite}, load);
  if (const Status done = sqlite.checkpoint(); !done) fmt::print("{}\n", done.error().message);
  const auto size = std::filesystem::file_size(directory + "/pawl.db");
  const auto payload = load.runs * load.steps * load.bytes;
  fmt::print("database {} bytes after a checkpoint: {:.2f} x the payload of {}\n", size,
             static_cast<double>(size) / static_cast<double>(payload), payload);
  return 0;
}

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int open_only(const std::string& directory) {
  AsioLoop loop;
  const double start = now_s();
  auto journal = SqliteJournal::open(directory, loop);
  if (!journal) return 1;
  const auto runs = (*journal)->list({});
  if (!runs || runs->empty()) return 1;
  for (const UseSnapshot use : {UseSnapshot::yes, UseSnapshot::no}) {
    const double before = now_s();
    const auto loaded = load_run(**journal, runs->front().id, use);
    if (!loaded) {
      fmt::print(stderr, "{}\n", loaded.error().message);
      return 1;
    }
    fmt::print("{}: {} records in {:.2f} s ({:.2f} s since start), peak {} MiB\n",
               use == UseSnapshot::yes ? "with snapshot" : "from record 0", loaded->run->length,
               now_s() - before, now_s() - start, peak_kib() / 1024);
  }
  return 0;
}

}  // namespace
}  // namespace pawl

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto number = [&args](std::size_t i, std::uint64_t otherwise) {
    return args.size() > i ? std::strtoull(args[i].c_str(), nullptr, 10) : otherwise;
  };
  const std::string what = args.empty() ? "steps" : args[0];
  char pattern[] = "/tmp/pawl-bench-XXXXXX";
  if (what == "open" && args.size() > 1) return pawl::open_only(args[1]);
  const std::string directory = args.size() > 4 ? args[4] : std::string(mkdtemp(pattern));
  const int code = pawl::steps({number(1, 64), number(2, 100), number(3, 200)}, directory);
  if (args.size() <= 4) std::filesystem::remove_all(directory);
  return code;
}
