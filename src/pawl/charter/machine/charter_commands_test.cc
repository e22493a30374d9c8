#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

// A node with commands, whose entries begin in line 8.
std::string commands_with(std::string_view commands) {
  return "name: t\nmodel: a/b\nstart: a\nnodes:\n  a:\n    instructions: x\n    next: { go: b, "
         "need: "
         "c }\n    workers: { w: w }\n    commands:\n" +
         std::string(commands) +
         "  b: { instructions: x }\n"
         "  c: { instructions: x, state: { schema: { required: [n] } } }\n"
         "  w: { instructions: x, worker: true }\n";
}

TEST_CASE("every action of a command can be written") {
  const Charter charter = good_charter(commands_with(R"(      all:
        description: All.
        input: { type: object }
        do:
          - patch: { a: { $input: /a }, b: [{ $input: "" }] }
          - transition: go
          - spawn: { worker: w, input: { $input: /text }, state: { a: 1 } }
          - suspend: { reason: Wait., metadata: { a: 1 } }
          - resume: { suspend_id: s1 }
          - message: { $input: /m~1n }
      resume: { do: [{ resume: {} }, { message: Go on. }, { cede: [1, { $input: /x }] }] }
      native: {}
)"));
  const std::vector<NodeCommand>& commands = charter.machine.nodes[0].spec.commands;
  REQUIRE(commands.size() == 3);
  CHECK(commands[0].input_schema == R"({"type":"object"})");
  CHECK(commands[1].actions ==
        R"([{"resume":{}},{"message":"Go on."},{"cede":[1,{"$input":"/x"}]}])");
  CHECK(commands[2].actions.empty());
}

TEST_CASE("what a command cannot do is found at load") {
  CHECK(charter_faults(commands_with(
            R"(      one: { do: [{ transition: stay }, { spawn: { worker: x, input: a } }] }
      two: { do: [{ patch: 1 }, { message: [a] }, { suspend: {} }, { spawn: { worker: w } }] }
      three: { do: [{ patch: {}, cede: x }, { transit: go }, transition] }
      four: { do: [{ patch: { a: { $input: a } } }, { cede: { $input: /a, b: 1 } }, { cede: { $input: 1 } }] }
      five: { do: [], input: { type: 7 } }
      six: { do: [{ transition: need }] }
      "s e": { do: [{ transition: go }, { cede: x }] }
)")) == R"(f:10:33: nodes.a.commands.one.do: there is no transition "stay" (one of go, need)
f:10:60: nodes.a.commands.one.do.spawn: there is no worker or child "x" (one of w)
f:11:28: nodes.a.commands.two.do: "patch" must be a map, found the integer 1
f:11:44: nodes.a.commands.two.do: "message" must be a text, found a list (put it in quotes, or take it from the input: { $input: /text })
f:11:62: nodes.a.commands.two.do.suspend: "reason" is missing (add "reason")
f:11:77: nodes.a.commands.two.do.spawn: "input" is missing (add "input")
f:12:21: nodes.a.commands.three.do: an entry of "do" is one action (one of patch, transition, spawn, cede, suspend, resume, message)
f:12:47: nodes.a.commands.three.do: unknown key "transit" (known keys: patch, transition, spawn, cede, suspend, resume, message)
f:12:62: nodes.a.commands.three.do: must be a map, found the string "transition"
f:13:44: nodes.a.commands.four.do: "$input" must be a JSON Pointer, found the string "a": it must begin with "/", or be empty (for example { $input: /severity }; { $input: "" } is the whole input)
f:13:63: nodes.a.commands.four.do: "$input" stands alone: { $input: /pointer } (remove the other keys of this map)
f:13:85: nodes.a.commands.four: a command takes one transition, or cedes: this is a second one
f:13:103: nodes.a.commands.four.do: "$input" must be a JSON Pointer, found the integer 1 (for example { $input: /severity }; { $input: "" } is the whole input)
f:14:19: nodes.a.commands.five: "do" must list 1 to 64 actions (leave it out where the host has a function for this command)
f:14:30: nodes.a.commands.five: "input": schema at "/type": expected a string or an array of strings
f:15:33: nodes.a.commands.six.do: the transition "need" needs a state, and a command gives it none (add state: to the entry of next, or an initial: that fits to c)
f:16:7: nodes.a: "s e" is not a name of a command (letters, digits, '_' and '-', at most 64 of them)
f:16:41: nodes.a.commands.s e: a command takes one transition, or cedes: this is a second one
)");
}

}  // namespace
}  // namespace pawl
