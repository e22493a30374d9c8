// Runs against an executor that a test scripts as a function of the request.
#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <stdexcept>

#include "pawl/kernel/transcript.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "pawl/testing/stage/run_stage_test.h"
#include "tests/support/forwarding_reader.h"

namespace pawl {

// Answers with what the test lined up, one answer a request, and keeps the requests.
class LinedUpExecutor final : public Executor {
 public:
  struct Running final : Operation {
    void abort() override {}
  };
  explicit LinedUpExecutor(Loop& loop) : loop_(loop) {
    bits_.supports_conversation_replay = true;
    bits_.supports_thinking = true;
  }
  const ExecutorCapabilities& capabilities() const override { return bits_; }
  std::vector<ExecutorModelDescriptor> list_models() const override { return {}; }
  bool supports(std::string_view model) const override { return model != "a/unknown"; }
  std::unique_ptr<Operation> execute_phase(const PhaseExecutionRequest& request,
                                           PhaseEventSink sink) override {
    asked.push_back(request);
    if (keeps_sessions) more.emplace_back(SessionStarted{"session of " + request.model});
    PhaseDone end{PhaseFailed{ErrorCategory::kernel_internal, "nothing is lined up"}};
    std::string text;
    if (!answers.empty()) {
      std::tie(text, end) = answers.front();
      answers.pop_front();
    }
    loop_.post([sink, text, end, usage = usage, more = std::exchange(more, {})] {
      if (!text.empty()) sink(TextDelta{text});
      for (const PhaseExecutorEvent& event : more) sink(event);
      sink(UsageReported{usage});
      sink(end);
    });
    return std::make_unique<Running>();
  }
  ExecutorCapabilities capabilities_of(std::string_view model) const override {
    if (model == throws_at) throw std::runtime_error("no idea");
    return bits_;
  }
  std::optional<McpServerConfig> mcp_server() const override { return own_server; }
  std::optional<std::uint64_t> calculate_cost(const std::string& tenant, std::string_view,
                                              const Usage&) const override {
    if (tenant == "friend") return 1;
    return std::nullopt;
  }

  void line_up(std::string text, ReplyStop stop = ReplyStop::end_turn) {
    answers.emplace_back(std::move(text), PhaseDone{PhaseReplied{stop, "", ""}});
  }
  void line_up_failure(FailureKind kind, std::optional<std::uint64_t> retry_after_ms = {}) {
    PhaseFailed failed;
    failed.message = std::string(name(kind));
    failed.kind = kind;
    failed.retry_after_ms = retry_after_ms;
    answers.emplace_back("", PhaseDone{failed});
  }

  std::vector<PhaseExecutionRequest> asked;
  std::deque<std::pair<std::string, PhaseDone>> answers;
  std::vector<PhaseExecutorEvent> more;  // of the next answer
  bool keeps_sessions = false;
  ExecutorCapabilities bits_;
  Usage usage{10, 5, 0, 0};
  std::optional<McpServerConfig> own_server;
  std::string throws_at;

 private:
  Loop& loop_;
};

// Reads another store, while it is told to.
class DoorReader final : public ForwardingReader {
 public:
  using ForwardingReader::ForwardingReader;
  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    if (refuses) return Error{ErrorCode::unavailable, "the disk says no"};
    return ForwardingReader::read(run, from, bytes_max);
  }

  bool refuses = false;
};

struct ModelStage {
  TestLoop loop;
  MemoryJournal journal{loop};
  DoorReader reader{journal};
  std::shared_ptr<LinedUpExecutor> model = std::make_shared<LinedUpExecutor>(loop);
  PreparedAgent agent;
  Engine engine;
  Service service{engine};
  const RunId id{"r"};

  explicit ModelStage(std::shared_ptr<const ByteFilter> filter = nullptr,
                      std::uint64_t kept_bytes_max = kKeptBytesMax)
      : engine(
            EngineOptions{loop,
                          {&journal, &reader, &journal, &journal},
                          {},
                          [this](const PinnedCharter&) -> Result<PreparedAgent> { return agent; },
                          "stage",
                          kSnapshotBytesMin,
                          std::move(filter),
                          {},
                          kept_bytes_max}) {
    agent.charter.name = "stage";
    agent.charter.instructions = "Go.";
    agent.charter.model = "a/x";
    agent.executor = model;
    agent.targets = {target("a/x"), target("b/y")};
  }
  static ResolvedTarget target(const std::string& literal) {
    ResolvedTarget made;
    made.literal = literal;
    made.facts.prices.input = 1'000;
    made.facts.prices.output = 10'000;
    made.facts.max_output_tokens = 1'000;
    return made;
  }
  Status start(std::vector<PendingAttachment> attachments = {}, const std::string& tenant = "") {
    Status outcome = ok();
    InvocationContextBuilder context;
    if (!tenant.empty()) context.tenant(tenant);
    service.start({agent, "go", id, context.build(), std::move(attachments)},
                  [&outcome](const Result<RunId>& accepted) {
                    if (!accepted) outcome = accepted.error();
                  });
    loop.advance(300);
    return outcome;
  }
  RunSummary listed() { return journal.list({id.text, "", "", 1})->front(); }
  RunDetails details() { return *service.show(id); }
  std::vector<Record> records() { return decoded(*journal.read(id, 0, SIZE_MAX)); }
  std::string output() {
    std::string text;
    for (const Record& record : records()) {
      if (const auto said = output_of(record)) text = *said->bytes();
    }
    return text;
  }
};

}  // namespace pawl
