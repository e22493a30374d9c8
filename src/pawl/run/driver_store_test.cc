// A driver and a store of the host's that does not keep its contract.
#include <doctest/doctest.h>

#include <stdexcept>

#include "pawl/testing/stage/run_stage_test.h"

namespace pawl {
namespace {

// Answers more than once or never, or throws before or after it has taken a record.
class RudeJournal final : public Journal {
 public:
  explicit RudeJournal(Journal& inner) : inner_(inner) {}
  Result<RunLease> acquire(const RunId& run) override { return inner_.acquire(run); }
  Status quarantine(const RunId& run, const std::string& why) override {
    return inner_.quarantine(run, why);
  }
  void append(Append append, StatusCallback done) override {
    if (append.seq >= silent_from) return waiting.push_back(std::move(done));
    const bool rude = append.seq == throws_at;
    if (rude && !takes_it) throw std::runtime_error("no");
    inner_.append(std::move(append), [done, times = answers](const Status& status) {
      for (int i = 0; i < times; ++i) done(status);
    });
    if (rude) throw std::runtime_error("no");
  }

  int answers = 1;
  std::uint64_t throws_at = UINT64_MAX;
  bool takes_it = false;
  std::uint64_t silent_from = UINT64_MAX;
  std::vector<StatusCallback> waiting;  // of appends that are not answered, as on a full disk

 private:
  Journal& inner_;
};

struct RudeStage : RunStage {
  RudeJournal writer{journal};
  Engine host{
      EngineOptions{loop, {&writer, &journal, &journal, &journal}, {}, source(), "a host's"}};
  std::vector<std::string> accepted;
  std::vector<std::string> ended;

  RudeStage() : RunStage(scripted({ScriptReply::call("note", "{}"), ScriptReply::say("done")})) {
    host.on_ended([this](const RunId&, const Status& status) {
      ended.push_back(status ? "fine" : status.error().message);
    });
  }
  void play() {
    host.start({agent(), "go", RunId{"r"}, nullptr}, [this](const Result<RunId>& run) {
      accepted.push_back(run ? "fine" : run.error().message);
    });
    loop.advance(300);
  }
};

using Texts = std::vector<std::string>;

TEST_CASE("a store that answers again and again has nothing done twice") {
  RudeStage stage;
  stage.writer.answers = 3;
  stage.play();
  CHECK(stage.tool->keys.size() == 1);
  CHECK(stage.accepted == Texts{"fine"});
  CHECK(stage.ended == Texts{"fine"});
}

TEST_CASE("a store that throws ends the driver, which says so once") {
  for (const bool takes_it : {false, true}) {
    for (const std::uint64_t seq : {0U, 1U, 2U}) {
      CAPTURE(takes_it);
      CAPTURE(seq);
      RudeStage stage;
      stage.writer.throws_at = seq;
      stage.writer.takes_it = takes_it;
      stage.play();
      CHECK(stage.ended == Texts{"the store threw: no"});
      CHECK(stage.host.live() == 0);
      const bool durable = seq > 0 || takes_it;
      CHECK(stage.accepted == Texts{durable ? "fine" : "the store threw: no"});
      CHECK(stage.tool->keys.size() <= 1);
    }
  }
}

TEST_CASE("a run that is ending is left when its store writes nothing for five seconds") {
  RudeStage stage;
  stage.writer.silent_from = 3;  // the reply that ends it
  stage.play();
  CHECK(stage.ended.empty());
  stage.loop.advance(kUnwrittenEndMs);
  REQUIRE(stage.ended.size() == 1);
  CHECK(stage.ended.front().find("could not write that down") != std::string::npos);
  CHECK(stage.host.live() == 0);
}

TEST_CASE("a run that is not ending waits for its store as long as it takes") {
  RudeStage stage;
  stage.writer.silent_from = 2;
  stage.play();
  stage.loop.advance(20 * kUnwrittenEndMs);
  CHECK(stage.ended.empty());
  CHECK(stage.host.live() == 1);
}

}  // namespace
}  // namespace pawl
