#include <doctest/doctest.h>

#include <set>

#include "pawl/testing/sim/disk.h"

namespace pawl::sim {
namespace {

TEST_CASE("what was synced survives every power loss, the rest by chance") {
  std::set<std::string> kept;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk;
    disk.append("synced ");
    REQUIRE(disk.sync());
    disk.append(std::string(600, 'a'));
    disk.append(std::string(600, 'b'));
    Rng rng(seed);
    disk.lose_power(rng);
    CHECK(disk.contents().substr(0, 7) == "synced ");
    kept.insert(disk.contents());
  }
  CHECK(kept.contains("synced "));
  CHECK(kept.contains("synced " + std::string(600, 'a') + std::string(600, 'b')));
  CHECK(kept.size() > 6);
}

TEST_CASE("a failed sync forgets what it was to write, though readers still see it") {
  SimDisk disk;
  disk.append("one");
  disk.fail_next_sync();
  CHECK(!disk.sync());
  CHECK(disk.contents() == "one");
  CHECK(disk.sync());
  Rng rng(1);
  disk.lose_power(rng);
  CHECK(disk.contents().find("one") == std::string::npos);
}

}  // namespace
}  // namespace pawl::sim
