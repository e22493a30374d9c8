#include "pawl/gate/shell/shell_git.h"

#include <doctest/doctest.h>

#include "pawl/gate/rules/rules.h"
#include "pawl/json.h"

namespace pawl {
namespace {

Verdict verdict_on(const std::string& line) {
  ToolRule rule;
  rule.id = "no-push";
  rule.pattern = {"bash", {{"command", ConditionKind::runs, Sense::is, {"git push"}}}};
  rule.verdict = Verdict::deny;
  const auto rules = RuleSet::compile({rule});
  std::string input = R"({"command":)";
  append_json_string(input, line);
  const auto outcome =
      rules->judge({"bash", input + "}", ""}, [](const std::string&) { return true; });
  return outcome.judgement ? outcome.judgement->verdict : Verdict::allow;
}

}  // namespace

TEST_CASE("git's own programs and options that run commands are seen") {
  for (const char* line : {"git-push",
                           "/usr/lib/git-core/git-push origin",
                           "env git-push",
                           "git rebase -x 'git push' x",
                           "git rebase --exec='git push' x",
                           "git rebase --ex 'git push' x",
                           "git-rebase -x 'git push'",
                           "git rebase -x'git push' x",
                           "git bisect run sh -c 'git push'",
                           "git submodule foreach --quiet sh -c 'git push'",
                           "git submodule foreach 'git push'",
                           "git submodule foreach --recursive git push",
                           "git difftool -x 'git push'",
                           "git difftool --extcmd='git push'",
                           "git filter-branch --tree-filter 'git push'",
                           "git -c core.pager='git push' log",
                           "git -c core.sshCommand='git push' fetch",
                           "git -c alias.x='!git push' x",
                           "git config core.editor 'git push'",
                           "git config alias.x push",
                           "GIT_EDITOR='git push' git commit",
                           "export PAGER='git push'",
                           "env GIT_SSH_COMMAND='git push' git fetch",
                           "PROMPT_COMMAND='git push' bash -i",
                           "git grep -O'git push' x",
                           "git grep --open-files-in-pager='git push' x",
                           "git fetch --upload-pack='git push' .",
                           "git clone -u 'git push' . x",
                           "git archive --exec='git push' --remote=. HEAD",
                           "git ls-remote --upload-pack='git push' .",
                           "git ls-remote 'ext::git push'",
                           "git clone 'ext::sh -c git% push' x",
                           "git send-email --sendmail-cmd='git push' x",
                           "git shell -c 'git push'"}) {
    INFO(std::string(line));
    CHECK(verdict_on(line) == Verdict::deny);
  }
}

TEST_CASE("what may become one of them is asked about") {
  for (const char* line : {"git-$x", "\"$x\" origin", "git rebase -x \"$c\" x", "PAGER=$x git log",
                           "git -c core.pager=\"$x\" log", "git bisect run \"$c\"",
                           "X=push git --config-env=alias.p=X p", "git ls-remote ext::$x"}) {
    INFO(std::string(line));
    CHECK(verdict_on(line) == Verdict::ask);
  }
}

TEST_CASE("other work with git is neither") {
  for (const char* line :
       {"git commit -m 'git push comes later'", "git rebase -x 'make test' main", "git-status",
        "git -c user.name=\"it's me\" commit -m x", "git config user.name 'Git Push'",
        "git bisect run make test", "PAGER=cat git log", "git add a.cmd b.helper",
        "git log --format='%h %s'", "git clean -x", "grep -rn 'git push' docs", "EDITOR=vi make"}) {
    INFO(std::string(line));
    CHECK(verdict_on(line) == Verdict::allow);
  }
}

}  // namespace pawl
