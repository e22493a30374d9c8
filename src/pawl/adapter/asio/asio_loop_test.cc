#include "pawl/adapter/asio/asio_loop.h"

#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>

#include "tests/contract/loop_contract.h"

namespace pawl {
namespace {

TEST_CASE("the loop on Asio keeps the contract of loops") {
  contract::check_loop_contract<AsioLoop>();
}

TEST_CASE(
    "sc-T05: so many timers that are due at once all run, each once, and others get their turn") {
  contract::check_many_timers<AsioLoop>();
}

TEST_CASE("it runs on a host's own io_context") {
  boost::asio::io_context host;
  AsioLoop loop(host);
  bool ran = false;
  loop.post([&] { ran = true; });

  host.run();

  CHECK(ran);
  CHECK(loop.wall_ms() > 1'600'000'000'000);
}

}  // namespace
}  // namespace pawl
