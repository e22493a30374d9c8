#include "pawl/charter/charter_tools.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

using Names = std::vector<std::string>;

Names names_of(const Charter& charter) {
  Names names;
  for (const CommandDeclaration& tool : charter.commands) names.push_back(tool.spec.name);
  return names;
}

constexpr std::string_view kThree =
    "tools:\n  define: { a: { command: [x] }, b: { command: [x] }, c: { command: [x] } }\n";

TEST_CASE("every key of a tool is read") {
  const Charter charter = good_charter(charter_with(R"(tools:
  define:
    pay-2_X:
      description: Pays.
      command: [./pay.sh, --now]
      effect: reconcilable
      on_doubt: tell_model
      timeout: 2m
      output_max: 1MiB
      input: { type: object, required: [amount], properties: { amount: { type: integer } } }
      status: [./status.sh]
)"));
  REQUIRE(charter.commands.size() == 1);
  const CommandDeclaration& tool = charter.commands[0];
  const ToolSpec spec{
      "pay-2_X",
      "Pays.",
      R"({"type":"object","required":["amount"],"properties":{"amount":{"type":"integer"}}})",
      EffectClass::reconcilable,
      OnDoubt::tell_model,
      120'000,
      1U << 20U};
  CHECK(tool.spec == spec);
  CHECK(tool.command == Names{"./pay.sh", "--now"});
  CHECK(tool.status == Names{"./status.sh"});
}

TEST_CASE("what a tool may leave out has a default") {
  const Charter charter = good_charter(charter_with("tools: { define: { t: { command: [x] } } }"));
  ToolSpec expected;
  expected.name = "t";
  expected.input_schema = R"({"type":"object"})";
  REQUIRE(charter.commands.size() == 1);
  CHECK(charter.commands[0].spec == expected);
  CHECK(good_charter(charter_with("tools: {}")).commands.empty());
}

TEST_CASE("every effect and every answer to doubt can be written") {
  for (const char* word : {"pure", "idempotent", "once"}) {
    const Charter charter = good_charter(charter_with(
        "tools: { define: { t: { command: [x], effect: " + std::string(word) + "} } }"));
    CHECK(name(charter.commands.at(0).spec.effect) == word);
  }
  const Charter charter =
      good_charter(charter_with("tools: { define: { t: { command: [x], on_doubt: wait } } }"));
  CHECK(charter.commands.at(0).spec.on_doubt == OnDoubt::wait);
}

TEST_CASE("a command is a list") {
  CHECK(charter_faults(charter_with(R"(tools:
  define:
    a: { command: ./pay.sh }
    b: { command: ./pay.sh --now }
    c: { command: [] }
    d: { command: [sleep, 5] }
    e: {}
    f: { command: [""] }
    g: [x]
)")) == "f:6:19: tools.define.a: \"command\" must be a list of strings, found the string "
        "\"./pay.sh\" (write a list: [./pay.sh])\n"
        "f:7:19: tools.define.b: \"command\" must be a list of strings, found the string "
        "\"./pay.sh --now\" (write a list of words, or [sh, -c, \"./pay.sh --now\"])\n"
        "f:8:19: tools.define.c: \"command\" must be 1 to 256 words, the first not empty, each of "
        "at most 65536 bytes\n"
        "f:9:27: tools.define.d: an item of \"command\" must be a string, found the integer 5\n"
        "f:10:8: tools.define.e: \"command\" is missing (add \"command\")\n"
        "f:11:19: tools.define.f: \"command\" must be 1 to 256 words, the first not empty, each of "
        "at most 65536 bytes\n"
        "f:12:8: tools.define.g: must be a map, found a list\n");
}

TEST_CASE("a status command belongs to reconcilable tools and to no others") {
  CHECK(charter_faults(charter_with(R"(tools:
  define:
    a: { command: [x], effect: reconcilable }
    b: { command: [x], status: [y] }
    c: { command: [x], effect: reconcilable, status: y }
)")) == "f:6:8: tools.define.a: a reconcilable tool needs \"status\" (add status: [command], which "
        "gets PAWL_KEY and prints the outcome)\n"
        "f:7:32: tools.define.b: \"status\" is only for reconcilable tools (add effect: "
        "reconcilable, or remove it)\n"
        "f:8:54: tools.define.c: \"status\" must be a list of strings, found the string \"y\" "
        "(write a list: [y])\n");
}

TEST_CASE("values out of range, unknown words and unknown keys are faults") {
  CHECK(
      charter_faults(charter_with(R"(tools:
  define:
    a b: { command: [x] }
    c: { command: [x], effect: twice, on_doubt: ask, timeout: 0, output_max: 17MiB, cwd: / }
    d: { command: [x], backend: none, comand: [x], description: 1 }
  mcp: {}
  defines: {}
)")) ==
      "f:6:5: tools.define: \"a b\" is not a name of a tool (letters, digits, '_' and '-', at "
      "most 128)\n"
      "f:7:32: tools.define.c: \"effect\" must be one of pure, idempotent, reconcilable, once, "
      "found the string \"twice\"\n"
      "f:7:49: tools.define.c: \"on_doubt\" must be one of wait, tell_model, found the string "
      "\"ask\"\n"
      "f:7:63: tools.define.c: \"timeout\" must be a duration from 1ms to 1d, found the integer "
      "0 (write it as 250ms, 30s, 10m, 1h or 2d)\n"
      "f:7:78: tools.define.c: \"output_max\" must be a number of bytes from 1 to 16777216, found "
      "the string \"17MiB\" (write it as 4096, 64KiB or 10MB)\n"
      "f:7:85: tools.define.c: unknown key \"cwd\" (known keys: description, command, effect, "
      "on_doubt, timeout, output_max, input, status, trust, risk, needs, sandbox, terminal)\n"
      "f:8:24: tools.define.d: \"backend\" is not supported by this version (remove it)\n"
      "f:8:39: tools.define.d: unknown key \"comand\" (did you mean \"command\"?)\n"
      "f:8:65: tools.define.d: \"description\" must be a string, found the integer 1 (put it in "
      "quotes)\n"
      "f:9:3: tools: \"mcp\" is not supported by this version (remove it)\n"
      "f:10:3: tools: unknown key \"defines\" (did you mean \"define\"?)\n");
}

TEST_CASE("an input schema that does not compile is a fault that names its place") {
  const std::string faults = charter_faults(charter_with(R"(tools:
  define:
    a:
      command: [x]
      input: { type: object, properties: { amount: { type: integr } } }
    b: { command: [x], input: { properties: { p: { pattern: "(" } } } }
    c: { command: [x], input: true }
)"));
  CHECK(faults.find("f:8:14: tools.define.a: \"input\": ") != std::string::npos);
  CHECK(faults.find("/properties/amount/type") != std::string::npos);
  CHECK(faults.find("f:9:31: tools.define.b: \"input\": ") != std::string::npos);
  CHECK(faults.find("/properties/p/pattern") != std::string::npos);
  CHECK(faults.find("f:10:31: tools.define.c: \"input\" must be a map, found the boolean true") !=
        std::string::npos);
}

TEST_CASE("allow leaves out what it does not name") {
  CHECK(names_of(good_charter(charter_with(kThree))) == Names{"a", "b", "c"});
  const std::string three(kThree);
  CHECK(names_of(good_charter(charter_with(three + "  allow: [c, a]\n"))) == Names{"a", "c"});
  CHECK(names_of(good_charter(charter_with(three + "  allow: []\n"))) == Names{});
  CHECK(charter_faults(charter_with(three + "  allow: [a, aa, a, mcp__x__*, 1]\n")) ==
        "f:6:32: tools: an item of \"allow\" must be a string, found the integer 1\n");
  CHECK(charter_faults(charter_with(three + "  allow: [a, aa, a, mcp__x__*]\n")) ==
        "f:6:14: tools: there is no tool \"aa\" (define it under tools.define)\n"
        "f:6:18: tools: the tool \"a\" is listed twice\n"
        "f:6:21: tools: \"mcp__x__*\" names tools of an MCP server, and this version has none "
        "(remove it)\n");
  CHECK(charter_faults(charter_with(three + "  ask: [mcp__x__y]\n"))
            .find("f:6:9: tools: \"mcp__x__y\" names tools of an MCP server") != std::string::npos);
  CHECK(names_of(good_charter(charter_with(three + "  allow: [c]\n  ask: [a]\n"))) ==
        Names{"a", "c"});
  CHECK(good_charter(charter_with(three + "  allow: [c, view]\n  ask: [bash]\n")).common_tools ==
        Names{"view", "bash"});
  CHECK(charter_faults(charter_with(three + "  use: [vieww]\n")).find("Pawl brings no tool") !=
        std::string::npos);
}

TEST_CASE("a tool is the charter's own or Pawl's, and not both") {
  const std::string own = "tools:\n  define:\n    bash: { command: [./b] }\n";
  CHECK(charter_faults(charter_with(own + "  use: [view, bash]\n")) ==
        "f:7:15: tools: the tool \"bash\" is also in tools.define (give the one under "
        "tools.define another name)\n");
  const Charter allowed = good_charter(charter_with(own + "  allow: [bash]\n"));
  CHECK(names_of(allowed) == Names{"bash"});
  CHECK(allowed.common_tools.empty());
}

TEST_CASE("a node names the tools it has, of those that are allowed") {
  const std::string three(kThree);
  const auto tools_of = [&](const std::string& node) {
    return good_charter(charter_with(three + "nodes: { n: { " + node + " } }"))
        .machine.nodes.front()
        .spec.tools;
  };
  CHECK(tools_of("tools: [b]") == Names{"b"});
  CHECK(tools_of("tools: []") == Names{});
  CHECK(!tools_of("instructions: x"));
  CHECK(names_of(good_charter(charter_with(three + "nodes: { n: {} }"))) == Names{"a", "b", "c"});
  CHECK(charter_faults(charter_with(three + "  allow: [a]\nnodes: { n: { tools: [a, b, z] } }")) ==
        "f:7:26: nodes.n: the tool \"b\" is not in tools.allow\n"
        "f:7:29: nodes.n: there is no tool \"z\" (define it under tools.define)\n");
}

TEST_CASE("there are at most so many tools") {
  std::string many = "tools:\n  define:\n";
  for (std::size_t i = 0; i <= kToolsMax; ++i) {
    many += "    t" + std::to_string(i) + ": { command: [x] }\n";
  }
  CHECK(charter_faults(charter_with(many)) == "f:6:5: tools.define: there may be 256 tools\n");
}

TEST_CASE("a tool's name has a bounded alphabet and length") {
  CHECK(is_tool_name("mcp__x-1"));
  CHECK(is_tool_name(std::string(kToolNameBytesMax, 'x')));
  CHECK_FALSE(is_tool_name(std::string(kToolNameBytesMax + 1, 'x')));
  for (const char* bad : {"", "a b", "a.b", "a/b", "\xC3\xA9"}) CHECK_FALSE(is_tool_name(bad));
}

}  // namespace
}  // namespace pawl
