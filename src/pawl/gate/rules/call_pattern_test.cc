#include "pawl/gate/rules/call_pattern.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl {
namespace {

struct Read {
  std::vector<ArgumentCondition> conditions;
  std::string faults;
};

Read read(const std::string& yaml) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE(document.root);
  std::vector<Fault> faults;
  Read result;
  result.conditions = read_conditions(*document.root, faults, "rules[0].arguments");
  result.faults = to_string(faults, "f");
  return result;
}

Match match(const std::string& yaml, std::string_view input) {
  const Read conditions = read(yaml);
  CHECK(conditions.faults == "");
  const auto pattern = CallPattern::compile({"bash", conditions.conditions});
  REQUIRE(pattern);
  return pattern->match("bash", CallArguments(input));
}

TEST_CASE("a pattern without conditions looks at the tool only") {
  const auto pattern = CallPattern::compile({"mcp__*", {}});
  REQUIRE(pattern);
  CHECK(pattern->match("mcp__a__b", CallArguments("not json")) == Match::yes);
  CHECK(pattern->match("bash", CallArguments("{}")) == Match::no);
}

TEST_CASE("conditions on one argument") {
  struct Case {
    const char* yaml;
    const char* input;
    Match match;
  };
  const Case cases[] = {
      {"command: 'git *'", R"({"command":"git status"})", Match::yes},
      {"command: 'git *'", R"({"command":"ls"})", Match::no},
      {"command: 'git *'", R"({})", Match::no},
      {"command: 'git *'", R"({"command":["git x","ls"]})", Match::maybe},
      {"command: 'git *'", R"({"command":["git x",{"a":"git y"}]})", Match::yes},
      {"command: 'git *'", R"({"command":[]})", Match::no},
      {"command: 'git *'", "not json", Match::maybe},
      {"n: {glob: ['7', 'true', 'null']}", R"({"n":7})", Match::yes},
      {"n: {glob: ['7', 'true', 'null']}", R"({"n":true})", Match::yes},
      {"n: {glob: ['7', 'true', 'null']}", R"({"n":null})", Match::yes},
      {"command: {regex: 'git status'}", R"({"command":"git status"})", Match::yes},
      {"command: {regex: 'git status'}", R"({"command":"git status; rm -r x"})", Match::maybe},
      {"command: {regex: 'git .*'}", R"({"command":"git x\nrm"})", Match::maybe},
      {"command: {regex: 'rm.*-rf'}", R"({"command":"a; rm \n -rf x"})", Match::maybe},
      {"command: {regex: '^ls$'}", R"({"command":"cat"})", Match::no},
      {"path: {beneath: /etc}", R"({"path":"/etc/x"})", Match::yes},
      {"path: {beneath: [/usr, /etc]}", R"({"path":"/etc/x"})", Match::yes},
      {"path: {beneath: /etc}", R"({"path":"../etc/x"})", Match::maybe},
      {"path: {not_beneath: src}", R"({"path":"src/x"})", Match::no},
      {"path: {not_beneath: src}", R"({"path":"doc/x"})", Match::yes},
      {"path: {not_beneath: src}", R"({"path":"../x"})", Match::maybe},
      {"path: {not_beneath: src}", R"({})", Match::maybe},
      {"url: {host: ['*.test']}", R"({"url":"https://a.test/"})", Match::yes},
      {"url: {host: ['*.test']}", R"({"url":"https://x@a.test/"})", Match::maybe},
      {"url: {not_host: ['*.test']}", R"({"url":"https://b.org/"})", Match::yes},
      {"url: {not_scheme: https}", R"({"url":"http://b.org/"})", Match::yes},
      {"url: {not_scheme: https}", R"({"url":"HTTPS://b.org/"})", Match::no},
      {"url: {scheme: http}", R"({"url":"b.org"})", Match::maybe},
      {"/files/1/path: x", R"({"files":[{"path":"y"},{"path":"x"}]})", Match::yes},
      {"/files/2/path: x", R"({"files":[{"path":"y"},{"path":"x"}]})", Match::no},
      {"/a~1b/~0: x", R"({"a/b":{"~":"x"}})", Match::yes},
      {"/files/01: x", R"({"files":["y","x"]})", Match::no},
      {"/files/1: x", R"({"files":["y","x"]})", Match::yes},
      {"/files/a: x", R"({"files":["y","x"]})", Match::no},
      {"/files/: x", R"({"files":["y","x"]})", Match::no},
      {"/files/99999999999999999999: x", R"({"files":["y","x"]})", Match::no},
      {"/: x", R"({"":"x"})", Match::yes},
      {"/a/b: x", R"({"a":"x"})", Match::no},
      {"/files/-: x", R"({"files":["y","x"]})", Match::no},
      {"'*': '*secret*'", R"({"a":1,"b":{"c":"my secret"}})", Match::maybe},
      {"'*': '*secret*'", R"({"a":1})", Match::no},
      {"'*': '*secret*'", R"({"secret":1})", Match::no},
      {"'*': '*secret*'", R"({"a":{"secret":1}})", Match::maybe},
      {"env: {regex: LD_PRELOAD}", R"({"env":{"LD_PRELOAD":"/x"}})", Match::maybe},
      {"env: {host: a.test}", R"({"env":{"u":"http://a.test"}})", Match::yes},
      {"n: {regex: '[0-9]{4,}'}", R"({"n":1e4})", Match::maybe},
      {"n: {regex: '[0-9]{4,}'}", R"({"n":1.2345E+4})", Match::maybe},
      {"n: {regex: '[0-9]{4,}'}", R"({"n":1e2})", Match::no},
      {"n: {not_glob: '0'}", R"({"n":-0})", Match::maybe},
      {"n: '0.5'", R"({"n":5e-1})", Match::maybe},
      {"n: '10'", R"({"n":10.0})", Match::maybe},
      {"n: '12345678901234567890'", R"({"n":12345678901234567890})", Match::yes},
      {"path: {beneath: src, not_beneath: src/gen}", R"({"path":"src/gen/x"})", Match::no},
      {"path: {beneath: src, not_beneath: src/gen}", R"({"path":"src/a"})", Match::yes},
  };
  for (const Case& one : cases) {
    INFO(std::string(one.yaml) << " on " << std::string(one.input));
    CHECK(match(one.yaml, one.input) == one.match);
  }
}

TEST_CASE("commands anywhere in a text or in a list of words") {
  const char* yaml = "c: {runs: [rm, git push --force]}";
  CHECK(match(yaml, R"j({"c":"ls; echo $(rm x)"})j") == Match::yes);
  CHECK(match(yaml, R"({"c":["sh","-c","rm x"]})") == Match::yes);
  CHECK(match(yaml, R"({"c":"git push origin --force"})") == Match::yes);
  CHECK(match(yaml, R"({"c":"echo rm"})") == Match::no);
  CHECK(match(yaml, R"({"c":"$x"})") == Match::hidden);
  CHECK(match(yaml, R"({"c":"echo 'rm"})") == Match::yes);
  CHECK(match(yaml, R"({"c":["rm",1]})") == Match::maybe);
  CHECK(match(yaml, R"({"c":7})") == Match::maybe);
  CHECK(match(yaml, R"({})") == Match::no);
}

TEST_CASE("all conditions must hold") {
  const char* both = "a: x\nb: y";
  CHECK(match(both, R"({"a":"x","b":"y"})") == Match::yes);
  CHECK(match(both, R"({"a":"x","b":"z"})") == Match::no);
  CHECK(match(both, R"({"a":"x"})") == Match::no);
}

TEST_CASE("doubt forbids and never allows") {
  CHECK(applies(Match::maybe, Verdict::deny));
  CHECK(applies(Match::maybe, Verdict::ask));
  CHECK_FALSE(applies(Match::maybe, Verdict::allow));
  CHECK(applies(Match::yes, Verdict::allow));
  CHECK_FALSE(applies(Match::no, Verdict::deny));
}

TEST_CASE("faults name the place") {
  CHECK(read("a: {globb: x}").faults.find("rules[0].arguments: \"a\" has no condition \"globb\"") !=
        std::string::npos);
  CHECK(read("a: {glob: {x: y}}").faults.find("must be a string or a list") != std::string::npos);
  CHECK(read("a: {}").faults.find("needs a condition") != std::string::npos);
  CHECK(read("a: {not_runs: x}").faults.find("no condition \"not_runs\"") != std::string::npos);
  CHECK(read("[a]").faults.find("must be a map") != std::string::npos);
}

TEST_CASE("what is no pattern is refused") {
  const auto compile = [](ArgumentCondition condition) {
    const auto pattern = CallPattern::compile({"*", {std::move(condition)}});
    return pattern ? std::string() : pattern.error().message;
  };
  CHECK(compile({"a", ConditionKind::regex, Sense::is, {"("}})
            .starts_with("argument \"a\": \"(\" is not an expression"));
  CHECK(compile({"a", ConditionKind::runs, Sense::is, {"  "}}) ==
        "argument \"a\": a pattern needs the name of a program");
  CHECK(compile({"a", ConditionKind::glob, Sense::is, {}}) != "");
  CHECK(compile({"a", ConditionKind::glob, Sense::is, {""}}) != "");
  CHECK(compile({"", ConditionKind::glob, Sense::is, {"x"}}) != "");
  CHECK(
      compile({"a", ConditionKind::glob, Sense::is, {std::string(kConditionBytesMax + 1, 'x')}}) !=
      "");
  CHECK_FALSE(CallPattern::compile({"", {}}));
  CHECK_FALSE(
      CallPattern::compile({"*", std::vector<ArgumentCondition>(kConditionsMax + 1, {"a"})}));
}

TEST_CASE("conditions survive being written") {
  const Read first = read("a: {regex: [x, y], not_glob: z}\nb: w");
  JsonWriter out;
  write_conditions(out, first.conditions);
  const std::string json = out.take();
  CHECK(json == R"({"a":{"regex":["x","y"],"not_glob":["z"]},"b":{"glob":["w"]}})");
  CHECK(read(json).conditions == first.conditions);
}

}  // namespace
}  // namespace pawl
