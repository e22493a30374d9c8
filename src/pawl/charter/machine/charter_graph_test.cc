#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

TEST_CASE("nodes that nothing leads to, and nodes that start themselves, are found") {
  CHECK(
      charter_faults(nodes_with("  a: { instructions: x }\n  b: { instructions: x, next: { c: c } "
                                "}\n  c: { instructions: x }\n")) ==
      "f:6:3: nodes.b: nothing leads to this node (name it in a next, workers or children of a "
      "node that is used, or remove it)\n"
      "f:7:3: nodes.c: nothing leads to this node (name it in a next, workers or children of a "
      "node that is used, or remove it)\n");
  CHECK(charter_faults(nodes_with("  a: { instructions: x, children: { b: { node: b, start: "
                                  "with_node } } }\n"
                                  "  b: { instructions: x, children: { a: { node: a, start: "
                                  "with_node } } }\n"))
            .find("this node starts itself") != std::string::npos);
  good_charter(
      nodes_with("  a: { instructions: x, next: { b: b } }\n"
                 "  b: { instructions: x, next: { a: a } }\n"));
}

TEST_CASE("only the root may leave its workers behind") {
  good_charter(nodes_with("  a: { instructions: x, workers_on_end: detach }\n"));
  CHECK(charter_faults(nodes_with("  a: { instructions: x, children: { b: b } }\n"
                                  "  b: { instructions: x, next: { c: c } }\n"
                                  "  c: { instructions: x, workers_on_end: detach }\n"))
            .find("f:7:41: nodes.c: workers_on_end: detach is for the root instance") == 0);
}

}  // namespace
}  // namespace pawl
