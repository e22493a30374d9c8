#include "pawl/adapter/http_curl/connect_gate.h"

#include <doctest/doctest.h>

namespace pawl::http_curl {
namespace {

std::shared_ptr<int> some(int value) {
  return std::make_shared<int>(value);
}

TEST_CASE("as many as may connect do, in order, and the next when one has") {
  ConnectGate<int> gate(2);
  for (const int i : {1, 2, 3, 4}) gate.wait("a", some(i));

  CHECK(*gate.enter() == 1);
  CHECK(*gate.enter() == 2);
  CHECK(gate.enter() == nullptr);
  CHECK(!gate.can_enter());

  gate.leave("a");
  CHECK(gate.can_enter());
  CHECK(*gate.enter() == 3);
  CHECK(gate.enter() == nullptr);
}

TEST_CASE("one host does not hold up another") {
  ConnectGate<int> gate(1);
  gate.wait("a", some(1));
  gate.wait("a", some(2));
  CHECK(*gate.enter() == 1);

  gate.wait("b", some(3));

  CHECK(*gate.enter() == 3);
  CHECK(gate.enter() == nullptr);
}

TEST_CASE("one that does not want to any more is forgotten") {
  ConnectGate<int> gate(1);
  const auto first = some(1);
  const auto second = some(2);
  gate.wait("a", first);
  gate.wait("a", second);

  gate.forget("a", *first);
  gate.forget("a", *first);
  CHECK(gate.enter() == second);
  gate.leave("a");

  CHECK(!gate.can_enter());
  gate.forget("a", *first);  // of a host that nobody waits for
}

}  // namespace
}  // namespace pawl::http_curl
