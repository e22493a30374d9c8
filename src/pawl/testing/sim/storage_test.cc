#include "pawl/testing/sim/storage.h"

#include <doctest/doctest.h>

#include "pawl/testing/sim/connection.h"
#include "tests/contract/journal_contract.h"

namespace pawl::sim {
namespace {

// A simulated loop with the words that the contract is written in.
class ContractLoop {
 public:
  bool run_until(const std::function<bool()>& done) {
    for (int count = 0; count < kWorkMax; ++count) {
      if (done()) return true;
      if (!clock.step()) return done();
    }
    return false;
  }
  void run_posted() {
    run_until([] { return false; });
  }

  SimClock clock;
  SimLoop loop{clock};

 private:
  static constexpr int kWorkMax = 1'000'000;
};

struct SimStore {
  ContractLoop loop;
  Faults faults{1, std::vector<std::uint64_t>{}};
  SimStorage storage{loop.clock, 1, PlantedBug::none, [](const Append&) {},
                     [](const Append&, const Error&) {}};
  SimConnection journal{storage, loop.loop, faults, [] {}};
};

TEST_CASE("the simulated store keeps the contract") {
  contract::check_journal_contract<SimStore>();
}

TEST_CASE("what was acknowledged is there after the log is read again, with and without power") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    ContractLoop loop;
    Faults faults(seed, std::vector<std::uint64_t>{});
    SimStorage storage(
        loop.clock, seed, PlantedBug::none, [](const Append&) {},
        [](const Append&, const Error&) {});
    SimConnection journal(storage, loop.loop, faults, [] {});
    const RunId run{"r"};
    std::uint64_t acknowledged = 0;
    for (std::uint64_t seq = 0; seq < 20; ++seq) {
      journal.append(contract::append_of(run, 1, seq, "record"),
                     [&](const Status& status) { acknowledged += status ? 1U : 0U; });
      if (seq % 4 == seed % 4) loop.run_posted();
    }
    const std::uint64_t known = acknowledged;
    journal.die();
    const Status opened = seed % 2 == 0 ? storage.lose_power() : storage.reopen();
    REQUIRE(opened);
    CHECK(storage.index().read(run, 0, SIZE_MAX)->size() >= known);
  }
}

}  // namespace
}  // namespace pawl::sim
