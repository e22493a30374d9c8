#include "pawl/adapter/provider/exchange/phase_request.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/kept_growth_test.h"
#include "pawl/adapter/provider/common/messages_test.h"
#include "pawl/adapter/provider/exchange/fake_http_test.h"
#include "pawl/adapter/provider/provider_executor.h"
#include "pawl/json.h"
#include "tests/support/test_loop.h"

namespace pawl::provider {
namespace {

using Progress = PhaseRequest::Progress;

WireOptions options() {
  WireOptions made;
  made.name = "anthropic";
  made.model.id = "claude-sonnet-4-5";
  return made;
}

std::vector<Message> chat_of(std::size_t rounds, const std::string& text) {
  std::vector<Message> all;
  for (std::size_t i = 0; i < rounds; ++i) {
    all.push_back(said_by_user(text));
    all.push_back(said_by_model("anthropic/claude", {TextBlock{Content(text)}}));
  }
  all.push_back(said_by_user("and now?"));
  return all;
}

// How often it was asked to go on until the request was whole.
int slices(PhaseRequest& writing, const PhaseExecutionRequest& request) {
  int count = 1;
  while (writing.go_on(request).value() == Progress::more) ++count;
  return count;
}

struct KeptStage {
  explicit KeptStage(std::vector<Message> messages) : all(std::move(messages)) {}

  PhaseExecutionRequest request() {
    PhaseExecutionRequest made;
    made.transcript = std::make_shared<GrownTranscript>(all, all.size(), works);
    return made;
  }
  // The slices it took.
  int ask() {
    const PhaseExecutionRequest asked = request();
    PhaseRequest writing(*dialect, asked, options());
    const int count = slices(writing, asked);
    const auto wire = writing.finish(asked);
    REQUIRE(wire);
    CHECK(wire->body == dialect->encode(asked, all, options())->body);
    return count;
  }

  std::unique_ptr<Dialect> dialect = make_anthropic_dialect();
  std::vector<Message> all;
  KeptWorks works;
};

TEST_CASE(
    "a long conversation that nobody kept is written in slices, and one that is kept at once") {
  KeptStage stage(chat_of(200, "a word"));
  CHECK(stage.ask() == 1 + 401 / static_cast<int>(kSliceMessagesMax));
  CHECK(stage.ask() == 1);
  stage.all.push_back(said_by_model("anthropic/claude", {TextBlock{Content(std::string("so"))}}));
  stage.all.push_back(said_by_user("on"));
  CHECK(stage.ask() == 1);
  stage.works.clear();
  CHECK(stage.ask() > 1);
}

TEST_CASE("messages that are large make a slice short") {
  KeptStage stage(chat_of(20, std::string(kSliceBytesMax / 4, 'x')));
  CHECK(stage.ask() > 4);
}

// A phase over a conversation that takes many slices.
struct LongPhase {
  LongPhase() {
    ProviderConfig config;
    config.name = "anthropic";
    config.dialect = ProviderDialect::anthropic;
    config.base_url = "https://api.example.com";
    config.models.emplace_back().id = options().model.id;
    executor = make_dialect_executor(config, make_anthropic_dialect(), loop, http);
    // The request is gone when the call returns.
    const auto request = std::make_unique<PhaseExecutionRequest>(stage.request());
    request->model = options().model.id;
    operation = executor->execute_phase(
        *request, [this](PhaseExecutorEvent event) { events.push_back(std::move(event)); });
  }
  const PhaseDone& done() const {
    REQUIRE_FALSE(events.empty());
    return std::get<PhaseDone>(events.back());
  }

  TestLoop loop;
  KeptStage stage{chat_of(500, "a word")};
  std::shared_ptr<FakeHttp> http = std::make_shared<FakeHttp>(
      loop, [](const HttpRequest&) { return error_response(500, "{}"); });
  std::shared_ptr<Executor> executor;
  std::vector<PhaseExecutorEvent> events;
  std::unique_ptr<Operation> operation;
};

TEST_CASE("a phase sends its request when all of the conversation is written") {
  LongPhase phase;
  CHECK(phase.http->requests.empty());
  phase.loop.run_posted();
  REQUIRE(phase.http->requests.size() == 1);
  CHECK(std::holds_alternative<PhaseFailed>(phase.done().outcome));
  const std::string body = phase.http->requests.front().body.whole();
  CHECK(parse_json(body)->find("messages")->array().size() == 1'001);
}

TEST_CASE("a phase that is aborted while it writes has sent nothing, and costs nothing") {
  LongPhase phase;
  phase.operation->abort();
  phase.loop.run_posted();
  CHECK(phase.http->requests.empty());
  REQUIRE(phase.events.size() == 2);
  CHECK(std::get<UsageReported>(phase.events.front()).usage == Usage{});
  CHECK(std::holds_alternative<PhaseAborted>(phase.done().outcome));

  LongPhase gone;
  gone.operation.reset();
  gone.loop.run_posted();
  CHECK(gone.http->requests.empty());
  CHECK(gone.events.empty());
}

TEST_CASE("what cannot be read is said, and nothing is kept of it") {
  class Damaged final : public Transcript {
   public:
    explicit Damaged(KeptWorks& works) : works_(works) {}
    std::size_t length() const override { return 3; }
    Result<std::vector<Message>> load(MessageRange) const override {
      return Error{ErrorCode::corrupt, "record 2 is damaged"};
    }
    void keep_work(std::string_view name, std::unique_ptr<KeptWork> work) const override {
      works_.emplace(name, std::move(work));
    }

   private:
    KeptWorks& works_;
  };
  KeptWorks works;
  PhaseExecutionRequest request;
  request.transcript = std::make_shared<Damaged>(works);
  const auto dialect = make_anthropic_dialect();
  PhaseRequest writing(*dialect, request, options());
  CHECK(writing.go_on(request).error().message == "record 2 is damaged");
  CHECK(works.empty());
}

}  // namespace
}  // namespace pawl::provider
