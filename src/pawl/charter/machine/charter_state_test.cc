#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

TEST_CASE("a state fits its schema, and whoever begins has one") {
  CHECK(charter_faults(nodes_with("  a: { instructions: x, state: { schema: { type: 7 } } }\n")) ==
        "f:5:42: nodes.a.state: \"schema\": schema at \"/type\": expected a string or an array of "
        "strings\n");
  CHECK(charter_faults(nodes_with("  a: { instructions: x, state: { schema: { type: object, "
                                  "required: [n] }, initial: { m: 1 } } }\n"))
            .find("f:5:84: nodes.a.state: \"initial\" does not fit the schema: ") == 0);
  CHECK(charter_faults(nodes_with("  a: { instructions: x, state: { schema: { type: array } } }\n"))
            .find("the run starts here, and needs an initial: that fits") != std::string::npos);
  const std::string needy = "  b: { instructions: x, state: { schema: { required: [n] } } }\n";
  good_charter(nodes_with("  a: { instructions: x, next: { b: b } }\n" + needy));
  CHECK(charter_faults(nodes_with("  a: { instructions: x, next: { b: { to: b, when: end_turn } } "
                                  "}\n" +
                                  needy))
            .find("at the end of a turn nobody gives it one") != std::string::npos);
  CHECK(
      charter_faults(nodes_with("  a: { instructions: x, next: { b: { to: b, state: { n: 1 } }, c: "
                                "{ to: b, state: { m: 1 } } } }\n" +
                                needy))
          .find("f:5:83: nodes.a.next.c: \"state\" does not fit the state of the node \"b\"") == 0);
  CHECK(charter_faults(nodes_with("  a: { instructions: x, children: { b: { node: b, start: "
                                  "with_node } } }\n" +
                                  needy))
            .find("with start: with_node nobody gives it one") != std::string::npos);
}

TEST_CASE("a state that is too large is refused with its size") {
  std::string big = "  a: { instructions: x, state: { initial: [";
  for (int i = 0; i < 100; ++i) big += "\"" + std::string(1'000, 'x') + "\",";
  CHECK(charter_faults(nodes_with(big + "1] } }\n"))
            .find("\"initial\" has 100303 bytes and may have 65536") != std::string::npos);
}

}  // namespace
}  // namespace pawl
