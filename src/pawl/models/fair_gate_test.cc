#include "pawl/models/fair_gate.h"

#include <doctest/doctest.h>

#include "pawl/base/rng.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

using Entry = FairGate::Entry;

struct Stage {
  explicit Stage(GateBounds bounds) : gate(loop, bounds) {}
  // Notes `name` when it is admitted.
  FairGate::Ticket enter(const std::string& run, const std::string& model, std::string name) {
    const auto entered =
        gate.enter(run, model, [this, name] { order += (order.empty() ? "" : " ") + name; });
    last = entered.entry;
    return entered.ticket;
  }

  TestLoop loop;
  FairGate gate;
  Entry last = Entry::refused;
  std::string order;
};

}  // namespace

TEST_CASE("there are never more inside than the bound, and a place that is left is taken") {
  Stage stage({2, 2, 10});
  const auto first = stage.enter("a", "m", "1");
  CHECK(stage.last == Entry::inside);
  stage.enter("a", "m", "2");
  stage.enter("a", "m", "3");
  CHECK(stage.last == Entry::waiting);
  CHECK(stage.gate.inside() == 2);

  stage.gate.leave(first);

  CHECK(stage.order.empty());  // never from inside the call
  stage.loop.run_posted();
  CHECK(stage.order == "3");
  CHECK(stage.gate.inside() == 2);
}

TEST_CASE("runs take turns, whatever number of calls each has waiting") {
  Stage stage({1, 1, 100});
  std::vector<FairGate::Ticket> tickets = {stage.enter("z", "m", "z")};
  for (int i = 1; i <= 4; ++i) tickets.push_back(stage.enter("a", "m", "a" + std::to_string(i)));
  tickets.push_back(stage.enter("b", "m", "b1"));
  tickets.push_back(stage.enter("c", "m", "c1"));
  tickets.push_back(stage.enter("b", "m", "b2"));

  // Whoever is inside leaves, until nobody is.
  for (const int inside : {0, 1, 5, 6, 2, 7, 3, 4}) {
    stage.gate.leave(tickets.at(static_cast<std::size_t>(inside)));
  }
  stage.loop.run_posted();

  CHECK(stage.order == "a1 b1 c1 a2 b2 a3 a4");
  CHECK(stage.gate.inside() == 0);
}

TEST_CASE("a model that is full does not hold up another") {
  Stage stage({3, 1, 10});
  const auto first = stage.enter("a", "m", "1");
  stage.enter("a", "m", "2");
  CHECK(stage.last == Entry::waiting);
  stage.enter("a", "n", "3");
  CHECK(stage.last == Entry::inside);
  stage.gate.leave(first);
  stage.loop.run_posted();
  CHECK(stage.order == "2");
}

TEST_CASE("the queue is bounded, and whoever gives up leaves it") {
  Stage stage({1, 1, 2});
  const auto inside = stage.enter("a", "m", "1");
  const auto impatient = stage.enter("b", "m", "2");
  stage.enter("c", "m", "3");
  stage.enter("d", "m", "4");
  CHECK(stage.last == Entry::refused);

  stage.gate.leave(impatient);
  CHECK(stage.gate.waiting() == 1);
  stage.gate.leave(inside);
  stage.gate.leave(inside);  // twice is once
  stage.loop.run_posted();

  CHECK(stage.order == "3");
  CHECK(stage.gate.inside() == 1);
}

TEST_CASE("whatever comes and goes, the bounds hold and nobody is forgotten") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Stage stage({3, 2, 20});
    std::vector<FairGate::Ticket> present;
    std::size_t most = 0;
    for (int i = 0; i < 400; ++i) {
      if (rng.below(2) == 0 || present.empty()) {
        const auto ticket = stage.enter("r" + std::to_string(rng.below(5)),
                                        "m" + std::to_string(rng.below(3)), "x");
        if (ticket != 0) present.push_back(ticket);
      } else {
        const std::size_t at = rng.below(present.size());
        stage.gate.leave(present[at]);
        present.erase(present.begin() + static_cast<std::ptrdiff_t>(at));
      }
      most = std::max(most, stage.gate.inside());
      CHECK(stage.gate.inside() + stage.gate.waiting() == present.size());
    }
    CHECK(most == 3);
    for (const auto ticket : present) stage.gate.leave(ticket);
    CHECK(stage.gate.inside() == 0);
    CHECK(stage.gate.waiting() == 0);
  }
}

}  // namespace pawl
