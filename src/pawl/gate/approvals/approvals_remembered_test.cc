#include "pawl/gate/approvals/approvals_remembered.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

PendingApproval pending() {
  PendingApproval one;
  one.call = CallId{3};
  one.tool = "bash";
  one.input = R"({"command":"make"})";
  one.stage = GateStage::shell;
  one.binding = sha256("all of it");
  return one;
}

TEST_CASE("an approval for always is written and read again") {
  RunState state;
  state.directory = "/srv/project";
  const auto made = remembered_of(pending(), state, "ann", 7);
  REQUIRE(made);
  CHECK(made->project == "/srv/project");
  const auto read = read_remembered(remembered_line(*made) + remembered_line(*made));
  REQUIRE(read);
  CHECK(*read == std::vector<RememberedApproval>{*made, *made});
  CHECK(made->id() == to_hex(made->binding).substr(0, 12));
}

TEST_CASE("what asks every time is not remembered") {
  RunState state;
  for (const GateStage stage : {GateStage::trust, GateStage::hook, GateStage::approval_policy}) {
    PendingApproval one = pending();
    one.stage = stage;
    CHECK_FALSE(remembered_of(one, state, "ann", 7));
  }
  PendingApproval question = pending();
  question.kind = InterruptKind::input;
  CHECK_FALSE(remembered_of(question, state, "ann", 7));
  state.approvers = Approvers::others;
  CHECK_FALSE(remembered_of(pending(), state, "ann", 7));
}

TEST_CASE("every flipped bit of a remembered approval is found, or changes nothing of it") {
  const auto made = remembered_of(pending(), RunState{}, "ann", 7);
  REQUIRE(made);
  const std::string line = remembered_line(*made);
  for (std::size_t bit = 0; bit < line.size() * 8; ++bit) {
    std::string flipped = line;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const auto read = read_remembered(flipped);
    CAPTURE(flipped);
    CHECK((!read || *read == std::vector<RememberedApproval>{*made}));
  }
}

TEST_CASE("of a damaged list nothing counts, and its length is bounded") {
  const std::string line = remembered_line(*remembered_of(pending(), RunState{}, "ann", 7));
  CHECK(read_remembered("")->empty());
  CHECK_FALSE(read_remembered(line + "{}\n"));
  CHECK_FALSE(read_remembered(line + "no json\n" + line));
  std::string many;
  for (std::size_t i = 0; i < kRememberedMax; ++i) many += line;
  CHECK(read_remembered(many));
  CHECK_FALSE(read_remembered(many + line));
}

}  // namespace
}  // namespace pawl
