#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

TEST_CASE("an agent is a file or is written in place") {
  CHECK(
      charter_faults(charter_with("agents:\n  a: {}\n  b: { charter: x.yaml, instructions: y }\n"
                                  "  c: { charter: x.yaml, model: a/b }\n"
                                  "  d: { instructions: x, tools: [nothing], limits: { steps: 0 "
                                  "}, on_parent_end: stay }\n")) ==
      "f:5:3: agents.a: an agent has \"charter\", a file, or \"instructions\" (add one of them)\n"
      "f:6:3: agents.b: an agent has \"charter\", a file, or \"instructions\" (keep one of them)\n"
      "f:7:32: agents.c: \"model\" is for an agent that is written in place (write it in x.yaml)\n"
      "f:8:33: agents.d: there is no tool \"nothing\" (define it under tools.define)\n"
      "f:8:60: agents.d.limits: \"steps\" must be an integer from 1 to 1000000, found the integer "
      "0\n"
      "f:8:80: agents.d: \"on_parent_end\" must be one of cancel, detach, found the string "
      "\"stay\"\n");
}

}  // namespace
}  // namespace pawl
