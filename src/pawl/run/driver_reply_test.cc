// What becomes of replies and summaries that cannot be taken as they come.
#include "pawl/base/base64.h"
#include "pawl/base/ed25519.h"
#include "pawl/gate/approvals/approval_signature.h"
#include "pawl/testing/stage/model_stage_test.h"

namespace pawl {
namespace {

struct Quiet final : Operation {
  void abort() override {}
};

// Sums up without looking whether it could read what it sums up.
class CarelessCompactor final : public Compactor {
 public:
  explicit CarelessCompactor(ModelStage& stage) : stage_(stage) {}
  std::unique_ptr<Operation> compact(const CompactionRequest& request,
                                     std::function<void(CompactionOutcome)> done) override {
    ++asked;
    stage_.reader.refuses = refused;
    CHECK(request.transcript->load({}).has_value() != refused);
    stage_.reader.refuses = false;
    stage_.loop.post([done] { done({std::string("Nothing of note."), "a/x", {}}); });
    return std::make_unique<Quiet>();
  }

  bool refused = true;
  int asked = 0;

 private:
  ModelStage& stage_;
};

std::size_t summaries(ModelStage& stage) {
  std::size_t count = 0;
  for (const Record& record : stage.records()) {
    count += std::holds_alternative<ContextCompacted>(record.event);
  }
  return count;
}

TEST_CASE("a summary of what could not be read is no summary: the run waits for its store") {
  for (const bool refused : {true, false}) {
    ModelStage stage(nullptr, 0);  // Nothing is kept: every message comes from the store.
    const auto compactor = std::make_shared<CarelessCompactor>(stage);
    compactor->refused = refused;
    stage.agent.compactor = compactor;
    stage.agent.targets.resize(1);
    stage.agent.targets[0].facts.context_tokens = 2'000;
    stage.agent.charter.compaction.keep_messages = 1;
    stage.model->usage = {};
    std::vector<std::string> told;
    stage.engine.on_ended([&told](const RunId&, const Status& status) {
      if (!status) told.push_back(status.error().message);
    });
    for (int i = 0; i < 4; ++i) {
      stage.model->line_up(std::string(1'200, static_cast<char>('a' + i)), ReplyStop::pause_turn);
    }
    stage.model->line_up("done");
    CHECK(stage.start());
    CHECK(compactor->asked == 1);
    CHECK(summaries(stage) == (refused ? 0 : 1));
    CHECK(stage.listed().status == (refused ? "running" : "done"));
    if (!refused) continue;
    CHECK(told == std::vector<std::string>{"run r cannot be driven on: the disk says no"});
  }
}

// Knows one value, and calls it KEY.
class OneSecret final : public ByteFilter {
 public:
  std::string ingress(std::string text) const override { return sink(std::move(text)); }
  std::string sink(std::string text) const override {
    for (auto at = text.find("s3cret"); at != std::string::npos; at = text.find("s3cret")) {
      text.replace(at, 6, "KEY");
    }
    return text;
  }
  std::unique_ptr<ByteStream> stream() const override {
    struct Holding final : ByteStream {
      std::string feed(std::string_view piece) override {
        held += piece;
        return {};
      }
      std::string finish() override { return OneSecret().sink(std::move(held)); }
      std::string held;
    };
    return std::make_unique<Holding>();
  }
};

class ListeningGate final : public CallGate {
 public:
  std::vector<CallJudgement> judge(const ProposedPlan& plan) override {
    for (const ProposedCall& call : plan.calls) seen.push_back(call.input);
    CallJudgement allowed;
    allowed.verdict = CallVerdict::allow;
    return std::vector<CallJudgement>(plan.calls.size(), allowed);
  }
  std::unique_ptr<Operation> ask(const ProposedPlan&, std::function<void(CallJudgement)>) override {
    return std::make_unique<Quiet>();
  }
  Digest binding_of(const ProposedCall&) override { return {}; }

  std::vector<std::string> seen;
};

TEST_CASE(
    "what is judged, what is run and what is recorded are the same bytes: the filtered ones") {
  ModelStage stage(std::make_shared<OneSecret>());
  const auto tool = std::make_shared<CountingTool>(stage.loop);
  const auto gate = std::make_shared<ListeningGate>();
  stage.agent.tools = {tool};
  stage.agent.gate = gate;
  stage.model->more = {ToolCallProposed{"note", R"({"with":"s3cret"})", "c1"}};
  stage.model->line_up("Noting.", ReplyStop::tool_use);
  stage.model->line_up("done");
  CHECK(stage.start());
  const std::string judged = R"({"with":"KEY"})";
  REQUIRE(!gate->seen.empty());
  for (const std::string& input : gate->seen) CHECK(input == judged);
  CHECK(tool->inputs == std::vector<std::string>{judged});
  const auto records = stage.journal.read(stage.id, 0, SIZE_MAX);
  REQUIRE(records);
  for (const StoredRecord& record : *records) {
    CHECK(record.bytes.find("s3cret") == std::string::npos);
  }
  CHECK(stage.listed().status == "done");
}

TEST_CASE("what starts a run is signed as it is recorded: filtered") {
  ModelStage stage(std::make_shared<OneSecret>());
  const auto key = SigningKey::of_seed(std::string(kEd25519KeyBytes, 'a'));
  REQUIRE(key);
  stage.agent.tools = {std::make_shared<CountingTool>(stage.loop)};
  stage.agent.project_docs = "The key is s3cret.";
  stage.agent.charter.permissions.approvers = Approvers::others;
  stage.agent.charter.permissions.signers = {{"ann", {public_key_text(key->public_key())}}};
  stage.model->line_up("done");
  StartRequest request{stage.agent, "go", stage.id, nullptr};
  request.sign = [&key](const std::string& message) -> Result<std::string> {
    return to_base64(key->sign(message));
  };
  stage.service.start(std::move(request), [](const Result<RunId>& begun) { CHECK(begun); });
  stage.loop.advance(300);
  const Record start = stage.records().front();
  CHECK(*std::get<RunStarted>(start.event).project_docs.bytes() == "The key is KEY.");
  CHECK(std::get<RunStarted>(start.event).started_by == "ann");
  CHECK(SignatureAudit().take(start) == "");
}

TEST_CASE("what an executor has logged passes the filter, too") {
  ModelStage stage(std::make_shared<OneSecret>());
  std::vector<std::string> lines;
  const auto listening = stage.engine.subscribe([&lines](const RunEvent& event) {
    if (const auto* line = std::get_if<RunLogLine>(&event)) lines.push_back(line->text);
  });
  stage.model->more = {PhaseLog{"asked with s3cret"}};
  stage.model->line_up("done");
  CHECK(stage.start());
  CHECK(lines == std::vector<std::string>{"asked with KEY"});
}

}  // namespace
}  // namespace pawl
