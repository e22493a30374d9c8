#include "pawl/history/fork_edits.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

RunState in_step(std::uint64_t step) {
  RunState state;
  Instance root;
  root.id = kRootInstance;
  root.open_step = step;
  state.instances.push_back(root);
  return state;
}

template <class Fact>
Fact edited(Fact fact, const std::string& target, const std::string& text) {
  ForkEdits edits = *ForkEdits::make({{target, text}});
  Event event = std::move(fact);
  Ingress ingress;
  edits.apply(in_step(2), event, ingress);
  return std::get<Fact>(event);
}

}  // namespace

TEST_CASE("all that was said in a step becomes the one text, and its calls stay") {
  ModelReplied reply;
  reply.instance = kRootInstance;
  const Block call = CallBlock{"pay", Content("{}"), "", ""};
  reply.blocks = {TextBlock{Content("I will pay")}, call, TextBlock{Content("and then rest")}};

  const ModelReplied told = edited(reply, "step2.text", "I wait");

  CHECK(told.blocks == std::vector<Block>{TextBlock{Content("I wait")}, call});
  CHECK(told.origin == Origin::person);
  CHECK(edited(reply, "step1.text", "no").blocks == reply.blocks);
}

TEST_CASE("a result in the place of another one has its own length") {
  ToolFinished finished;
  finished.call = CallId{3};
  finished.content = Content("all of it");
  finished.content_length = 90'000;  // it was cut

  const ToolFinished told = edited(finished, "c3", "nothing");

  CHECK(told.content == Content("nothing"));
  CHECK(told.content_length == 7);
  CHECK(told.origin == Origin::person);
}

TEST_CASE("an answer that is no result is not edited") {
  ToolStatusLearned learned;
  learned.call = CallId{3};
  learned.content = Content("nobody knows");
  for (const StatusAnswer answer : {StatusAnswer::absent, StatusAnswer::unknown}) {
    learned.answer = answer;
    CHECK(edited(learned, "c3", "done") == learned);
  }
  learned.answer = StatusAnswer::done;
  CHECK(edited(learned, "c3", "done").content == Content("done"));
}

TEST_CASE("a verdict is edited where it brings a result") {
  DoubtResolved resolved;
  resolved.call = CallId{3};
  resolved.verdict = DoubtVerdict::did_not_happen;
  CHECK(edited(resolved, "c3", "paid") == resolved);
  resolved.verdict = DoubtVerdict::happened;
  CHECK(edited(resolved, "c3", "paid").result == Content("paid"));
}

TEST_CASE("what somebody else said in the model's turn is the text of the step it makes") {
  ExternalTurnPushed turn;
  turn.blocks = {TextBlock{Content("I say")}};
  CHECK(edited(turn, "step1.text", "I wait").blocks ==
        std::vector<Block>{TextBlock{Content("I wait")}});
  CHECK(edited(turn, "step2.text", "I wait").blocks == turn.blocks);
}

}  // namespace pawl
