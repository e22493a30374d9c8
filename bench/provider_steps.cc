// What a step costs against a provider over HTTP: whole runs, with engine, journal in memory,
// executor and client, beside libcurl alone that makes as many requests of the same kind.
//   pawl_bench_provider RUNS STEPS AT_ONCE ROUNDS
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>

#include "bench/anthropic_at.h"
#include "bench/meter.h"
#include "bench/raw_curl.h"
#include "pawl/adapter/asio/asio_loop.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/base/json.h"
#include "pawl/engine/engine.h"
#include "pawl/testing/fake_provider/fake_provider.h"
#include "pawl/testing/journal_memory/journal_memory.h"

namespace pawl::bench {
namespace {

constexpr std::string_view kModel = "claude-sonnet-4-5";

// The provider, in a process of its own: it echoes, and a result that says "call t …" is a call.
class ProviderProcess {
 public:
  ProviderProcess() {
    int ends[2];
    PAWL_ASSERT(::pipe(ends) == 0);
    pid_ = ::fork();
    PAWL_ASSERT(pid_ >= 0);
    if (pid_ == 0) serve(ends[1]);
    ::close(ends[1]);
    char url[128] = {};
    PAWL_ASSERT(::read(ends[0], url, sizeof url - 1) > 0);
    ::close(ends[0]);
    url_ = url;
  }
  ~ProviderProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ProviderProcess(const ProviderProcess&) = delete;
  ProviderProcess& operator=(const ProviderProcess&) = delete;

  const std::string& url() const { return url_; }

 private:
  [[noreturn]] static void serve(int told) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto provider = FakeProvider::start({});
    PAWL_ASSERT(provider.has_value());
    const std::string url = (*provider)->base_url();
    PAWL_ASSERT(::write(told, url.data(), url.size()) == static_cast<ssize_t>(url.size()));
    while (true) ::pause();
  }

  pid_t pid_ = -1;
  std::string url_;
};

// Says how the conversation goes on: `steps` model calls in all.
class NextTool final : public Tool {
 public:
  struct Nothing final : Operation {
    void abort() override {}
  };
  NextTool(Loop& loop, std::uint64_t steps) : loop_(loop), steps_(steps) {
    spec_.name = "t";
    spec_.description = "Goes on.";
    spec_.effect = EffectClass::pure;
  }
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    const auto input = parse_json(invocation.input);
    const std::uint64_t next = input->find("n")->as_uint64().value_or(0) + 1;
    std::string text = next < steps_ ? "call t {\"n\":" + std::to_string(next) + "}" : "Done.";
    loop_.post([done = std::move(done), text = std::move(text)] {
      done({ToolOutcome::Kind::succeeded, text, text.size()});
    });
    return std::make_unique<Nothing>();
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }

 private:
  Loop& loop_;
  std::uint64_t steps_;
  ToolSpec spec_;
};

class Runs {
 public:
  Runs(const std::string& url, std::uint64_t steps) {
    agent_.charter.name = "bench";
    agent_.charter.instructions = "Go on as long as you are told to.";
    agent_.charter.model = "anthropic/" + std::string(kModel);
    agent_.charter.guards = {0, 0, 0};
    agent_.executor = make_provider_executor(anthropic_at(url), loop_, client_);
    agent_.tools = {std::make_shared<NextTool>(loop_, steps)};
    engine_.on_ended([this](const RunId& run, const Status& status) {
      PAWL_ASSERT(status.has_value());
      journal_.remove(run, [](const Status&) {});
      ++ended_;
      if (left_ > 0) start();
    });
  }

  void run(std::uint64_t runs, std::size_t at_once) {
    left_ = runs;
    ended_ = 0;
    for (std::size_t i = 0; i < at_once && left_ > 0; ++i) start();
    loop_.run_until([&] { return ended_ == runs; });
  }

 private:
  void start() {
    --left_;
    engine_.start({agent_, "call t {\"n\":1}", std::nullopt, nullptr},
                  [](const Result<RunId>& accepted) { PAWL_ASSERT(accepted.has_value()); });
  }

  AsioLoop loop_;
  std::shared_ptr<HttpClient> client_ = make_curl_client(loop_);
  MemoryJournal journal_{loop_};
  Engine engine_{{loop_, {&journal_, &journal_, &journal_, &journal_}, {}, {}, "bench"}};
  RunnableAgent agent_;
  std::uint64_t left_ = 0;
  std::uint64_t ended_ = 0;
};

// The request in the middle of such a run.
std::string middle_request(std::uint64_t steps) {
  std::string messages = R"({"role":"user","content":"call t {\"n\":1}"})";
  for (std::uint64_t i = 1; i <= steps / 2; ++i) {
    const std::string id = "toolu_" + std::to_string(i);
    messages += R"(,{"role":"assistant","content":[{"type":"tool_use","id":")" + id +
                R"(","name":"t","input":{"n":)" + std::to_string(i) + "}}]}";
    messages += R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id +
                R"(","content":"call t {\"n\":)" + std::to_string(i + 1) + R"(}"}]})";
  }
  return R"({"model":"claude-sonnet-4-5","max_tokens":1000,"stream":true,"system":"Go on.",)"
         R"("tools":[{"name":"t","description":"Goes on.","input_schema":{"type":"object"}}],)"
         R"("messages":[)" +
         messages + "]}";
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void measure(std::uint64_t runs, std::uint64_t steps, std::size_t at_once, int rounds) {
  const ProviderProcess provider;
  const std::string body = middle_request(steps);
  const std::vector<std::string> headers = {"x-api-key: key", "anthropic-version: 2023-06-01"};
  Runs ours(provider.url(), steps);
  ours.run(at_once, at_once);  // what the first ones need once
  const std::uint64_t count = runs * steps;
  std::vector<double> step_us;
  std::vector<double> raw_us;
  for (int round = 0; round < rounds; ++round) {
    double before = cpu_s();
    ours.run(runs, at_once);
    step_us.push_back((cpu_s() - before) / static_cast<double>(count) * 1e6);
    before = cpu_s();
    run_raw_curl(provider.url() + "/v1/messages", body, count, at_once, headers);
    raw_us.push_back((cpu_s() - before) / static_cast<double>(count) * 1e6);
  }
  const double ours_us = median(step_us);
  const double raw = median(raw_us);
  fmt::print(
      "{} runs of {} steps, {} at a time: {:.1f} us of CPU a step; libcurl alone {:.1f} us a "
      "request; ratio {:.2f} (medians of {} rounds)\n",
      runs, steps, at_once, ours_us, raw, ours_us / raw, rounds);
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "see the top of bench/provider_steps.cc\n");
    return 2;
  }
  const auto number = [&](int at) { return std::strtoull(argv[at], nullptr, 10); };
  pawl::bench::measure(number(1), number(2), number(3), static_cast<int>(number(4)));
  return 0;
}
