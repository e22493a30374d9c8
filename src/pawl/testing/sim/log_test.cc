#include "pawl/testing/sim/log.h"

#include <doctest/doctest.h>

namespace pawl::sim {
namespace {

TEST_CASE("a log is read up to the first frame that is not whole") {
  const std::string first = encode_frame(0, {AcquireOp{RunId{"a"}}});
  const std::string second = encode_frame(1, {PostOp{RunId{"a"}, 5, "text", 7}});
  const LogScan whole = scan_log(first + second);
  REQUIRE(whole.groups.size() == 2);
  CHECK(whole.tail == LogScan::Tail::clean);
  CHECK(std::get<PostOp>(whole.groups[1][0]).body == "text");
  CHECK(std::get<PostOp>(whole.groups[1][0]).row == 7);
  for (std::size_t cut = 1; cut < second.size(); ++cut) {
    const LogScan torn = scan_log(first + second.substr(0, cut));
    CHECK(torn.groups.size() == 1);
    CHECK(torn.good_bytes == first.size());
    CHECK(torn.tail == LogScan::Tail::torn);
  }
  for (std::size_t at = 0; at < second.size(); ++at) {
    std::string flipped = second;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    CHECK(scan_log(first + flipped).groups.size() == 1);
  }
  // A frame whose predecessor is missing had no turn.
  CHECK(scan_log(second).groups.empty());
}

}  // namespace
}  // namespace pawl::sim
