// A run keeps the rules it began with through replay, export, import and fork; a number that this
// program does not know is refused there.
#include "pawl/history/replay.h"
#include "pawl/journal/run_loader.h"
#include "pawl/kernel/rules.h"
#include "pawl/testing/stage/exported_run_test.h"
#include "pawl/testing/stage/recorded_run_test.h"

namespace pawl {
namespace {

constexpr std::uint32_t kOther = 900;
const std::string kUnknown =
    "semantics 900 is not known to this version of Pawl, which knows 1 to 1";

Rules reworded() {
  Rules rules = rules_of(kSemantics);
  rules.semantics = kOther;
  rules.say.wrap_up = "Stop now.";
  return rules;
}

// A run of the other number whose last reply was cut off.
void write_other(RunStage& stage) {
  RecordedRun told;
  told.records.clear();
  told.run = Run();
  RunStarted start = testing::a_start();
  start.run = RunId{"r"};
  start.semantics = kOther;
  told.then(start);
  told.says(kRootInstance, "half", ReplyStop::max_tokens);
  told.write(stage.journal, stage.loop);
}

TEST_CASE("a run of another number is replayed, exported and imported under its own rules") {
  const Rules rules = reworded();
  const PlantedRules planted(rules);
  RunStage stage(a_note());
  write_other(stage);

  const auto replayed = replay(stage.journal, RunId{"r"});
  REQUIRE(replayed);
  CHECK_FALSE(replayed->difference);
  CHECK(replayed->damage.empty());
  const Exported file = exported(stage, "r");
  CHECK(file.report.semantics == kOther);
  CHECK(file.text.find("\"semantics\":900,") != std::string::npos);
  CHECK(file.text.find("Stop now.") != std::string::npos);
  RunStage elsewhere(a_note());
  REQUIRE(imported(elsewhere, file.text));
  CHECK(load_run(elsewhere.journal, RunId{"r"}, UseSnapshot::yes)->run->semantics == kOther);
}

TEST_CASE("a run of an unknown number is neither loaded nor replayed nor imported") {
  RunStage stage(a_note());
  std::string file;
  {
    const Rules rules = reworded();
    const PlantedRules planted(rules);
    write_other(stage);
    file = exported(stage, "r").text;
  }
  const auto loaded = load_run(stage.journal, RunId{"r"}, UseSnapshot::yes);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message == "record 0 of run r: " + kUnknown);
  const auto replayed = replay(stage.journal, RunId{"r"});
  REQUIRE(replayed);
  CHECK(replayed->damage == "record 0 of run r: " + kUnknown);
  const Status resumed = stage.engine.resume(RunId{"r"});
  REQUIRE_FALSE(resumed);
  CHECK(resumed.error().message.find(kUnknown) != std::string::npos);
  RunStage elsewhere(a_note());
  const auto refused = imported(elsewhere, file);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find(kUnknown) != std::string::npos);
}

}  // namespace
}  // namespace pawl
