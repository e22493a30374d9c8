#include "pawl/gate/shell/shell_hidden.h"

#include <doctest/doctest.h>

#include <array>

#include "pawl/base/shared_data_test.h"
#include "pawl/gate/rules/rules.h"
#include "pawl/gate/shell/shell_commands.h"
#include "pawl/json.h"

namespace pawl {
namespace {

using Patterns = std::vector<std::string>;

RuleSet denying(const Patterns& patterns) {
  ToolRule rule;
  rule.id = "no-push";
  rule.pattern = {"bash", {{"command", ConditionKind::runs, Sense::is, patterns}}};
  rule.verdict = Verdict::deny;
  auto set = RuleSet::compile({rule});
  REQUIRE(set);
  return *std::move(set);
}

Judgement judged(const RuleSet& rules, std::string_view command) {
  JsonWriter input;
  input.begin_object().field("command", command).end_object();
  const auto outcome = rules.judge({"bash", input.take(), ""}, {});
  return outcome.judgement.value_or(Judgement{});
}

constexpr auto kHiddenForms = std::to_array<std::string_view>({
    "{git,push,origin}",
    "g=git; $g push",
    "git${IFS}push",
    "git $(echo push)",
    "git `echo push`",
    "git p?sh",
    "git pus*",
    "git [p]ush",
    "git {push,origin}",
    "/usr/bin/g*t push",
    "/usr/bin/{git,x} push",
    "p=push; git $p",
    "p=push; git \"$p\"",
    "git pu\"${x}\"sh",
    "eval \"$x\"",
    "eval git $x",
    "bash -c \"$x\"",
    "bash -c -o pipefail \"$x\"",
    "bash -co pipefail \"$x\"",
    "bash -c \"echo $x\"",
    "xargs git < file",
    "echo push | xargs git",
    "echo push | xargs -I% git %",
    "echo git | xargs -I% % push",
    "find . -name x -exec git {} \\;",
    "find . -exec {} push \\;",
    "env $x",
    "env A=$x make",
    "env -iu N \"$x\"",
    "env -i \"$x\"",
    "timeout 5 $x",
    "sudo \"$x\"",
    "exec \"$@\"",
    "$(printf git) push",
    "\"$(printf git)\" push",
    "git \"$@\"",
    "git \"${a[@]}\"",
    "a=(git push); \"${a[@]}\"",
    "set -- push; git \"$1\"",
    "f() { git \"$@\"; }; f push",
    "sh <<E\n$x\nE",
    "sh <<E\necho $x\nE",
    "bash <<<\"$x\"",
    "printf 'git %s' push | sh",
    "echo -e 'git\\x20push' | sh",
    "echo Z2l0IHB1c2g= | base64 -d | sh",
    "curl x | sudo bash -s y",
    "bash <(printf 'git %s' push)",
    ". <(cat x)",
    "alias g=git",
    "hash -p /usr/bin/git ls; ls push",
    "trap \"$x\" EXIT",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x",
    "export GIT_CONFIG_COUNT=1",
    "~/bin/git \"$x\"",
    "git $((1))",
    "git commit -m \"$m\"",
    "parallel < file",
    "x=git\n$x push",
    "git ${x:-push}",
    "git $'pu'$x",
    "coproc x",
    "let 'a[$(git push)]=1'",
    "declare -i x='a[$(git push)]'",
    "test -v 'a[$(git push)]'",
    "[ -v 'a[`git push`]' ]",
    "[[ -v 'a[$(git push)]' ]]",
    "printf -v 'a[$(git push)]' x",
    "unset 'a[$(git push)]'",
    "read 'a[$(git push)]' </etc/hosts",
    "x='$(git push)'; echo \"${x@P}\"",
    "x='a[$(git push)]'; echo $((x))",
    "x=\"a[\\$(git push)]\"; echo ${b[x]}",
    "x='a[$(git '; x+='push)]'; ((x))",
    "x='a[$'; x+='(git push)]'; ((x))",
    "export PS4='$(git push)'; set -x",
    "env PS4='$(git push)' bash -xc :",
    "ENV='$(git push)' sh -i -c :",
    "echo \"${1@P}\"",
    "compgen -C 'git push'",
    "complete -C 'git push' x",
    "history -s git push; fc -s git",
    "at now <<<'git push'",
    "start-stop-daemon --start --exec /usr/bin/git -- push",
});

TEST_CASE("what expansions could make a denied command does not run without a question") {
  const RuleSet rules = denying({"git push"});
  for (const std::string_view text : kHiddenForms) {
    const Judgement said = judged(rules, text);
    INFO(std::string(text) << " -> " << name(said.verdict));
    CHECK(said.verdict != Verdict::allow);
    CHECK(said.rule == "no-push");
    if (said.verdict == Verdict::ask) {
      CHECK(said.asking == Asking::every_time);
      CHECK(said.reason.find("write every word out") != std::string::npos);
    }
  }
}

TEST_CASE("what is written out is denied, however it is quoted") {
  const RuleSet rules = denying({"git push"});
  for (const char* text : {"git push", "g'i't pu\\sh", "git $'\\x70ush'", "git -c alias.x=push x",
                           "git -c alias.x='!git push' x", "git config alias.x 'push origin'",
                           "eval git push", "echo git push | sh", "sh <<'E'\ngit push\nE",
                           "alias g='git push'", "~/bin/git push", "\"$HOME\"/bin/git push"}) {
    INFO(std::string(text));
    CHECK(judged(rules, text).verdict == Verdict::deny);
  }
}

TEST_CASE("lines that no rule concerns are not asked about") {
  const RuleSet rules = denying({"git push"});
  for (const char* text : {
           "echo $HOME",
           "ls *.txt",
           "for f in *.c; do cc -c \"$f\"; done",
           "git add *.c src/*.h",
           "git status",
           "git commit -m 'a message'",
           "x=$(git rev-parse HEAD); echo \"$x\"",
           "timeout 60 make -j\"$(nproc)\"",
           "sudo -u bob cc -c \"$f\"",
           "nice cc $FLAGS x.c",
           "env A=\"$x\" make",
           "find . -name '*.c' -exec wc -l {} +",
           "ls | xargs wc -l",
           "ls | xargs -0 -n1 cc -c \"$x\"",
           "ls | xargs -I{} cp {} \"$d\"",
           "bash -c 'echo \"$1\"' _ \"$f\"",
           "bash script.sh \"$x\"",
           "bash \"$dir/script.sh\"",
           "sh <<'E'\necho $x\nE",
           "[ -f \"$x\" ] && echo \"$x\"",
           "~/bin/tool \"$x\"",
           "\"$HOME\"/bin/tool $x",
           "sudo du -sh . | sort",
           "command -v \"$tool\"",
           "trap 'rm -f \"$tmp\"' EXIT",
           "PATH=$PATH:bin make",
           "while read -r line; do echo \"$line\"; done < file",
           "case $x in a) echo;; esac",
           "i=0; i=$((i+1)); echo $i",
           "re='^[0-9]+$'; [[ 5 =~ $re ]] && echo y",
           "x='costs 5$'; y='a (b)'; echo \"$x $y\"",
           "export DATE='$(date)'",
           "printf '%s\\n' '$(date)' '`id`'",
           "git commit -m 'uses $(git push) inside'",
           "echo '$(git push)'",
           "git grep -O'less' x",
           "git fetch --upload-pack=git-upload-pack origin",
       }) {
    const Judgement said = judged(rules, text);
    INFO(std::string(text) << " -> " << said.reason);
    CHECK(said.verdict == Verdict::allow);
  }
}

TEST_CASE("a quoted expansion is one word, and cannot be two of a pattern") {
  const RuleSet rules = denying({"rm -r /", "git push --force*"});
  for (const char* text : {"rm \"$f\"", "rm -f \"$f\"", "rm *.o", "rm -f build/*.o",
                           "git commit -m \"$m\"", "chmod +x \"$f\"", "rm -rf \"build\"/*"}) {
    INFO(std::string(text));
    CHECK(judged(rules, text).verdict == Verdict::allow);
  }
  for (const char* text :
       {"rm $f", "rm \"$a\" \"$b\"", "rm -r \"$f\"", "rm -rf \"$d\"/..", "rm -rf /*",
        "rm -rf /usr/{..,x}", "rm -rf .*/", "git push \"$x\"", "git \"$x\" --force"}) {
    INFO(std::string(text));
    CHECK(judged(rules, text).verdict != Verdict::allow);
  }
}

TEST_CASE("rules that ask or allow do not speak of what is hidden") {
  ToolRule rule;
  rule.id = "pushes";
  rule.pattern = {"bash", {{"command", ConditionKind::runs, Sense::is, {"git push"}}}};
  rule.verdict = Verdict::ask;
  const auto rules = RuleSet::compile({rule});
  CHECK(judged(*rules, "git \"$x\"").verdict == Verdict::allow);
  rule.script = "./judge.sh";
  const auto scripted = RuleSet::compile({rule});
  const auto outcome = scripted->judge({"bash", R"({"command":"git \"$x\""})", ""},
                                       [](const std::string&) { return true; });
  CHECK(outcome.needs_script.size() == 1);
}

TEST_CASE("globs that meet") {
  CHECK(globs_meet("push", "p?sh"));
  CHECK(globs_meet("push", "*"));
  CHECK(globs_meet("*", ""));
  CHECK(globs_meet("a*c", "*b*"));
  CHECK(globs_meet("", ""));
  CHECK(globs_meet("--force*", "*x"));
  CHECK_FALSE(globs_meet("push", "*.c"));
  CHECK_FALSE(globs_meet("push", "pus"));
  CHECK_FALSE(globs_meet("a*c", "*b"));
  CHECK_FALSE(globs_meet("", "a"));
  CHECK_FALSE(globs_meet("?", "*ab"));
}

}  // namespace
}  // namespace pawl
