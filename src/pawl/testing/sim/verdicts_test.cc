#include "pawl/testing/sim/verdicts.h"

#include <doctest/doctest.h>

#include "pawl/kernel/codec.h"
#include "pawl/port/journal_checks.h"
#include "pawl/testing/sim/clock.h"
#include "tests/contract/journal_contract_support.h"

namespace pawl::sim {
namespace {

struct Judged {
  SimClock clock;
  SimLoop loop{clock};
  MemoryJournal index{loop};
  std::set<std::string> failed;

  std::vector<bool> judge(const std::vector<Op>& group) {
    Verdicts verdicts(index, PlantedBug::none, failed);
    std::vector<bool> accepted;
    for (const Op& op : group) accepted.push_back(static_cast<bool>(verdicts.judge(op)));
    return accepted;
  }
};

Append record(std::uint64_t seq, const char* status = nullptr) {
  Append append = contract::append_of(RunId{"r"}, 1, seq, "record");
  if (status != nullptr) append.summary.emplace().status = status;
  return append;
}

PostOp message(std::uint64_t row) {
  return {RunId{"r"}, 0, encode_event(CancelRequested{"operator", ""}), row};
}

TEST_CASE("each operation of a group sees what those before it did") {
  Judged stage;
  using Accepted = std::vector<bool>;
  CHECK(stage.judge({message(1)}) == Accepted{false});  // There is no such run.
  CHECK(stage.judge({record(0, "running"), message(1), record(1, "done")}) ==
        Accepted{true, true, false});
  stage.failed.clear();
  Append taking = record(1, "done");
  taking.inbox_taken = {1};
  CHECK(stage.judge({record(0, "running"), message(1), taking, message(2)}) ==
        Accepted{true, true, true, false});
  CHECK(stage.judge({record(0, "running"), message(1), DropOp{RunId{"r"}, 1, {1}},
                     record(1, "done")}) == Accepted{true, true, true, true});
  CHECK(stage.judge({record(0, "running"), DropOp{RunId{"r"}, 2, {1}}}) == Accepted{true, false});
}

TEST_CASE("what stands behind a refused append of its process is refused") {
  Judged stage;
  CHECK(stage.judge({record(3), record(0, "running")}) == std::vector<bool>{false, false});
  stage.failed.clear();  // All have been called back.
  CHECK(stage.judge({record(0, "running")}) == std::vector<bool>{true});
}

TEST_CASE("an append that another process lost does not fail those of whoever drives the run") {
  Judged stage;
  stage.index.append(record(0, "running"), [](const Status&) {});
  REQUIRE(stage.index.acquire(RunId{"r"}));
  CHECK(stage.judge({record(1)}) == std::vector<bool>{false});  // its epoch is over
  std::set<std::string> of_another;
  Verdicts verdicts(stage.index, PlantedBug::none, of_another);
  Append newer = record(1);
  newer.epoch = 2;
  CHECK(verdicts.judge(Op(newer)));
}

}  // namespace
}  // namespace pawl::sim
