#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/gate/rules/glob.h"
#include "pawl/gate/shell/shell_rules.h"

namespace pawl {
namespace {

struct Read {
  ShellPolicy policy;
  std::string faults;
};

Read read(const std::string& yaml) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE(document.root);
  std::vector<Fault> faults;
  Read result;
  result.policy = read_shell_policy(*document.root, faults, "shell");
  result.faults = to_string(faults, "f");
  return result;
}

TEST_CASE("every key is read") {
  const Read all = read(
      "allow: [ls, git status, make test]\nask: [git push]\ndeny: [curl, 'rm -rf *']\n"
      "grammar: lists");
  CHECK(all.faults == "");
  ShellPolicy expected;
  expected.allow = {"ls", "git status", "make test"};
  expected.ask = {"git push"};
  expected.deny = {"curl", "rm -rf *"};
  expected.grammar = ShellGrammar::lists;
  CHECK(all.policy == expected);
  CHECK(read("{}").policy == ShellPolicy{});
  CHECK(read("allow: []").policy.allow.empty());
  CHECK(read("allow: ['*']").faults == "");
}

TEST_CASE("what can never allow or match is a fault") {
  for (const char* entry : {"make *", "a; b", "x=1 a", "a >b", "$x", "a 'b"}) {
    const std::string faults = read("allow: [\"" + std::string(entry) + "\"]").faults;
    CHECK(faults.find("is neither a reader nor one whole command") != std::string::npos);
  }
  CHECK(read("deny: ['']").faults.find("needs the name of a program") != std::string::npos);
  CHECK(read("ask: ['  ']").faults.find("needs the name of a program") != std::string::npos);
  CHECK(read("deny: [" + std::string(kGlobBytesMax + 1, 'a') + "]").faults.find("at most") !=
        std::string::npos);
  CHECK(read("grammar: any").faults != "");
  CHECK(read("alow: [ls]").faults != "");
  CHECK(read("[ls]").faults != "");
  std::string many = "deny: [a";
  for (std::size_t i = 0; i < kShellPatternsMax; ++i) many += ", a";
  CHECK(read(many + "]").faults.find("has at most 256 entries") != std::string::npos);
}

}  // namespace
}  // namespace pawl
