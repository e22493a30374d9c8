#include "pawl/gate/shell/shell_told.h"

#include <doctest/doctest.h>

#include <array>

#include "pawl/gate/shell/shell_commands.h"

namespace pawl {
namespace {

// "denied", "asked: why", or "free", under a rule that denies these.
std::string fate_of(std::string_view text, const std::vector<std::string>& patterns) {
  const FoundCommands found = commands_in_text(text);
  if (!matching_pattern(patterns, found, text).empty()) return "denied";
  const std::string why = hidden_from(patterns, found);
  return why.empty() ? "free" : "asked: " + why;
}

// Programs that run what their words say, or what they are given to read.
constexpr auto kToldForms = std::to_array<std::string_view>({
    "git remote-ext x 'git push'",
    "git remote-ext x git push",
    "git -c alias.x='!git push' x",
    "git -c core.sshCommand='git push' fetch",
    "git submodule foreach 'git push'",
    "git submodule foreach git push",
    "git rebase --exec 'git push' main",
    "git rebase -i -x'git push' main",
    "git bisect run git push",
    "git bisect run sh -c 'git push'",
    "git filter-branch --msg-filter 'git push' HEAD",
    "git difftool -x 'git push' HEAD",
    "git difftool -y --extcmd='git push' HEAD",
    "git config alias.x push",
    "git config --global alias.x '!git push'",
    "git for-each-repo --config=x.y push",
    "git maintenance run --task='git push'",
    "git stash push -m 'x'; git for-each-ref --shell --format='git push'",
    "env git push",
    "env -i PATH=/bin git push",
    "xargs git push </dev/null",
    "echo x | xargs -n1 git push",
    "find . -exec git push ';'",
    "find . -execdir git push +",
    "nice git push",
    "nice -n 5 git push",
    "timeout 5 git push",
    "timeout -k 1 5 git push",
    "busybox sh -c 'git push'",
    "busybox env git push",
    "bash -c 'git push'",
    "bash -lc 'git push'",
    "command git push",
    "command -p git push",
    "python3 -c 'import os; os.system(\"git push\")'",
    "python3 -c 'import subprocess; subprocess.run([\"git\", \"push\"])'",
    "python3 <<E\nimport os\nos.system('git push')\nE",
    "python3 <<<'import os; os.system(\"git push\")'",
    "echo 'import os; os.system(\"git push\")' | python3 -",
    "perl -e 'system(\"git push\")'",
    "perl -e 'exec qw(git push)'",
    "perl -e 'print `git push`'",
    "ruby -e '`git push`'",
    "node -e 'require(\"child_process\").execSync(\"git push\")'",
    "awk 'BEGIN{system(\"git push\")}'",
    "sed '1e git push' file",
    "sed -n '1s/.*/git push/e' file",
    "vim -c ':!git push' -c q",
    "ed <<< '!git push'",
    "tar cf x.tar --checkpoint=1 --checkpoint-action=exec='git push' x",
    "sort --compress-program='git push' x",
    "rg --pre 'git push' x",
    "make SHELL='git push'",
    "make -f - <<E\nall:\n\tgit push\nE",
    "make --eval='x:;git push' x",
    "chronic git push",
    "dbus-launch git push",
    "sshpass -p x git push",
    "expect -c 'spawn git push'",
    "tclsh <<< 'exec git push'",
    "php -r 'system(\"git push\");'",
    "lua -e 'os.execute(\"git push\")'",
    "cmake -E env git push",
    "cmake -E time git push",
    "npx -c 'git push'",
    "npm exec -- git push",
    "uv run git push",
    "watch -n1 git push",
    "entr git push",
    "hyperfine 'git push'",
    "gdb -ex 'shell git push'",
    "MAKEFLAGS='--eval=x:;git push' make x",
    "systemd-run --user git push",
    "m4 <<< 'syscmd(git push)'",
    "nohup git push &",
    "script -qc 'git push' /dev/null",
    "some-unknown-tool --then 'cd x && /usr/bin/git -C y push origin'",
    "echo 'git push' > x; sh x",
    "printf 'git push' | sh",
    "cat <<E >x; sh ./x\ngit push\nE",
});

TEST_CASE("a program that is told a denied command does not run without a question") {
  for (const std::string_view text : kToldForms) {
    INFO(std::string(text));
    CHECK(fate_of(text, {"git push"}) != "free");
  }
  CHECK(fate_of("python3 -c 'x(\"git push\")'", {"git push"}) ==
        "asked: \"git push\" is in what \"python3\" is given, which may run it; a command that is "
        "denied cannot be run by another one");
}

TEST_CASE("words that are data, or say something else, are not asked about") {
  for (const char* text : {
           "echo 'now git push'",
           "make 2>&1 | tail -5; echo 'now git push'",
           "echo 'then git push' >> notes.md",
           "echo 'git push' | grep -c push | wc -l",
           "printf '%s\\n' 'git push' >notes",
           "grep -rn 'git push' docs",
           "cat > notes.md <<'E'\nRun git push.\nE",
           "tee notes.md <<E\ngit push\nE",
           "git commit -m 'explain git push'",
           "git -C sub commit -qm 'git push'",
           "git commit -F - <<E\nexplain git push\nE",
           "env X=y git commit -m 'git push'",
           "timeout 5 git log --grep 'git push'",
           "git tag -m 'before git push' v1",
           "NOTE='git push' git commit -m x",
           "mv git push",
           "mkdir -p git/push",
           "export NOTE='git push'",
           "[ \"$x\" = 'git push' ]",
           "python3 push.py git",
           "python3 -c 'print(1)'",
           "python3 -c 'import git; items.push(1)'",
           "make -C git pushed",
           "npm run git-push",
           "bash -c 'git commit -m \"git push\"'",
           "sh test.sh git",
           "find . -name git -o -name push",
           "cc -o push git.c",
       }) {
    INFO(std::string(text));
    CHECK(fate_of(text, {"git push"}) == "free");
  }
}

TEST_CASE("a name alone says nothing, and options count") {
  const std::vector<std::string> patterns = {"curl", "init", "rm -r /"};
  for (const char* text : {"python3 -c 'os.system(\"rm -fr /\")'", "tool rm -rf //",
                           "awk 'BEGIN{system(\"rm --recursive -r /\")}'"}) {
    INFO(std::string(text));
    CHECK(fate_of(text, patterns).starts_with("asked: "));
  }
  for (const char* text : {"apt install curl", "make curl", "python3 -c 'os.system(\"rm -r x\")'",
                           "cc -lcurl x.c", "python3 <<E\ndef init(): pass\ninit()\nE"}) {
    INFO(std::string(text));
    CHECK(fate_of(text, patterns) == "free");
  }
}

TEST_CASE("long texts are looked at in a time that is no power of their length") {
  std::string names = "tool '";
  for (int i = 0; i < 15'000; ++i) names += "git ";
  CHECK(fate_of(names + "'", {"git push"}) == "free");
  CHECK(fate_of(names + "push'", {"git push"}) != "free");
}

}  // namespace
}  // namespace pawl
