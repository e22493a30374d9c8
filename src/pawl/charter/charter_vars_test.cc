#include "pawl/charter/charter_vars.h"

#include <doctest/doctest.h>

#include "pawl/charter/charter_test_support.h"

namespace pawl {
namespace {

using Names = std::vector<std::string>;

Charter asking(std::string instructions, std::map<std::string, std::string> variables) {
  Charter charter;
  charter.instructions = std::move(instructions);
  charter.variables = std::move(variables);
  return charter;
}

TEST_CASE("variables are found in double braces and nowhere else") {
  CHECK(variables_used("") == Names{});
  CHECK(variables_used("Hello {{name}} and {{ other-1 }}, {{name}}.") == Names{"name", "other-1"});
  CHECK(variables_used("{name} {{}} {{ }} {{1a}} {{a b}} {{a} } {{\"a\": 1}} {{a") == Names{});
  CHECK(variables_used("{{{a}}}") == Names{"a"});
  CHECK(variables_used("{{a{{b}}") == Names{"b"});
  CHECK(variables_used(std::string("{{") + std::string(65, 'x') + "}}") == Names{});
}

TEST_CASE("a given value takes the place of the default") {
  const Charter charter = asking("{{a}}-{{b}}{{a}} {{{a}}} {1}", {{"a", "A"}, {"b", ""}});
  CHECK(*render_instructions(charter, {}) == "A-A {A} {1}");
  CHECK(*render_instructions(charter, {{"b", "x"}}) == "A-xA {A} {1}");
  CHECK(*render_instructions(charter, {{"a", "{{b}}"}, {"b", "x"}}) == "{{b}}-x{{b}} {{{b}}} {1}");
}

TEST_CASE("variables that are not declared are errors that name those that are") {
  const Charter charter = asking("{{a}}", {{"a", ""}, {"b", ""}});
  CHECK(
      render_instructions(charter, {{"c", "x"}}).error() ==
      Error{ErrorCode::invalid_argument, "the variable \"c\" is not declared: declared are a, b"});
  CHECK(render_instructions(asking("x", {}), {{"c", "x"}}).error().message ==
        "the variable \"c\" is not declared: the charter declares none");
  CHECK(render_instructions(asking("{{z}}", {}), {}).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("instructions stay bounded whatever their variables hold") {
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += "{{a}}";
  const auto rendered = render_instructions(asking(many, {{"a", std::string(10'000, 'x')}}), {});
  CHECK(rendered.error().code == ErrorCode::limit_exceeded);
  const std::string full(kInstructionsBytesMax, 'x');
  CHECK(render_instructions(asking(full, {}), {}));
  CHECK_FALSE(render_instructions(asking(full + "x", {}), {}));
}

TEST_CASE("a charter declares its variables with defaults") {
  const Charter charter = good_charter(
      "{name: t, model: a/b, instructions: 'Greet {{who}}.', vars: {who: Ann, unused: ''}}");
  CHECK(charter.variables == std::map<std::string, std::string>{{"who", "Ann"}, {"unused", ""}});
  CHECK(*render_instructions(charter, {}) == "Greet Ann.");
}

TEST_CASE("variables are faults when undeclared, misnamed, not text or too many") {
  CHECK(charter_faults("name: t\nmodel: a/b\ninstructions: 'Greet {{who}} and {{ whom }}.'\n"
                       "vars: { who: 1, 1x: a, what: }\n") ==
        "f:3:15: charter: the instructions use the variable \"whom\", which is not declared (add "
        "vars: { whom: \"\" })\n"
        "f:4:14: vars: \"who\" must be a string, found the integer 1 (put it in quotes)\n"
        "f:4:17: vars: \"1x\" is not a name of a variable (letters, digits, '_' and '-', at most "
        "64, the first a letter)\n"
        "f:4:30: vars: \"what\" must be a string, found nothing (put it in quotes)\n");
  CHECK(charter_faults(charter_with("vars: [a]")) == "f:4:7: vars: must be a map, found a list\n");
  std::string many = "vars:\n";
  for (int i = 0; i < 65; ++i) many += "  v" + std::to_string(i) + ": x\n";
  CHECK(charter_faults(charter_with(many)) == "f:5:3: vars: there may be 64 variables\n");
  CHECK(charter_faults(charter_with("vars: { a: " + std::string(kVariableBytesMax + 1, 'x') + " }"))
            .find("may have 262144 bytes") != std::string::npos);
}

}  // namespace
}  // namespace pawl
